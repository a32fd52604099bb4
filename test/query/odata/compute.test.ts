import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collection, compare, field, integer, refusal, restricted, selected } from './fixture.ts';

test('computed names are replaced by their expression', () => {
  const perArea = {
    kind: 'arithmetic',
    operator: 'div',
    type: 'decimal',
    left: field('ListPrice'),
    right: field('LivingArea'),
  } as const;
  const twice = {
    kind: 'arithmetic',
    operator: 'mul',
    type: 'decimal',
    left: perArea,
    right: integer(2),
  } as const;
  const query = collection(
    '$compute=ListPrice div LivingArea as PerArea,PerArea mul 2 as Twice&$filter=PerArea gt 9&$orderby=Twice desc&$select=City,Twice',
  );
  assert.deepEqual(query.filter, compare('gt', perArea, integer(9)));
  assert.deepEqual(query.order, [{ expression: twice, descending: true }]);
  assert.deepEqual(query.computed, [{ name: 'Twice', expression: twice }]);
  assert.equal(selected(query), 'City');
  const names = (options: string) => collection(options).computed.map(({ name }) => name);
  assert.deepEqual(names('$compute=1 as A,2 as B'), ['A', 'B']);
  assert.deepEqual(names('$compute=1 as A,2 as B&$select=*'), ['A', 'B']);
  assert.deepEqual(names('$compute=1 as A,2 as B&$select=City'), []);
  const media = collection('$expand=Media($compute=Order add 1 as Next;$filter=Next gt 1)').expansions[0]
    ?.query;
  assert.deepEqual(
    media?.computed.map(({ name }) => name),
    ['Next'],
  );
});

test('invalid computed names are rejected', () => {
  const taken = (name: string) =>
    `$compute is "${name}", but takes a new name after "as", which is not the name of a field of Property and occurs only once.`;
  const wrong: Record<string, [string, string]> = {
    '$compute=1 as City': ['optionInvalid', taken('City')],
    '$compute=1 as Media': ['optionInvalid', taken('Media')],
    '$compute=1 as A,2 as A': ['optionInvalid', taken('A')],
    '$compute=B as A,1 as B': ['fieldUnknown', '$compute: Property has no field B at position 1.'],
    '$compute=A as A': ['fieldUnknown', '$compute: Property has no field A at position 1.'],
    '$compute=1': ['syntax', '$compute: found the end at position 2, expected an operator or "as".'],
    '$compute=1 as': ['syntax', '$compute: found the end at position 5, expected a name after "as".'],
    '$compute=1 as A.B': ['syntax', '$compute: found A.B at position 6, expected a name after "as".'],
    '$compute=1 as A&$expand=Media($filter=A eq 1)': [
      'fieldUnknown',
      '$expand: Media has no field A at position 15.',
    ],
    '$compute=AccessCode as A': ['fieldUnknown', '$compute: Property has no field AccessCode at position 1.'],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query, 'Property', restricted)),
      error,
      query,
    );
  }
  // The name of a hidden field is as available as any other; an error would reveal that the field exists.
  const free = collection('$compute=1 as AccessCode&$select=AccessCode', 'Property', restricted);
  assert.deepEqual(
    [free.computed, free.selection.hidden],
    [[{ name: 'AccessCode', expression: integer(1) }], []],
  );
});
