import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindOptions, parseQueryOptions } from '../../../src/query/odata/query.ts';
import {
  collection,
  compare,
  count,
  date,
  expanded,
  field,
  integer,
  navigationOf,
  records,
  refusal,
  resourceOf,
  schema,
  selected,
} from './fixture.ts';

test('a request without options returns everything of every record', () => {
  assert.deepEqual(collection(''), {
    resource: resourceOf('Property').resource,
    order: [],
    selection: { all: true, fields: [], hidden: [] },
    computed: [],
    expansions: [],
    count: false,
  });
});

test('paging and counting', () => {
  const query = collection('$top=5&$skip=15&$count=true&$skiptoken=a%20b&$format=json&custom=1');
  assert.equal(query.top, 5);
  assert.equal(query.skip, 15);
  assert.equal(query.count, true);
  assert.equal(query.skipToken, 'a b');
  assert.equal(collection('$skiptoken=').skipToken, '');
  assert.equal(collection('$count=FALSE').count, false);
  assert.equal(collection('$top=0').top, 0);
});

test('an order has expressions and directions', () => {
  assert.deepEqual(collection('$orderby=ListPrice desc,City ASC, ListAgent/MemberCity').order, [
    { expression: field('ListPrice'), descending: true },
    { expression: field('City'), descending: false },
    {
      expression: field('MemberCity', { resource: 'Member', via: [navigationOf('ListAgent')] }),
      descending: false,
    },
  ]);
  assert.deepEqual(collection('$orderby=Media/$count desc,BedroomsTotal gt 3').order, [
    { expression: count(records('Media'), 1), descending: true },
    { expression: compare('gt', field('BedroomsTotal'), integer(3)), descending: false },
  ]);
  const wrong: Record<string, [string, string]> = {
    'ListPrice down': ['syntax', '$orderby: found down at position 11, expected "," or the end.'],
    'City,': ['syntax', '$orderby: found the end at position 6, expected a field, a value or a function.'],
    Foo: ['fieldUnknown', '$orderby: Property has no field Foo at position 1.'],
    "geography'POINT(0 0)'": ['typeMismatch', '$orderby: a point has no order at position 1.'],
  };
  for (const [order, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(`$orderby=${order}`)),
      error,
      order,
    );
  }
});

test('options that this service does not support are named in the error', () => {
  for (const name of ['apply', 'id', 'index', 'schemaversion']) {
    const message = `$${name}: this option is not provided by this service.`;
    assert.deepEqual(
      refusal(() => collection(`$${name}=1`)),
      ['notImplemented', message],
    );
  }
});

test('a single record accepts only options that apply to one record', () => {
  const single = (query: string) =>
    bindOptions('record', parseQueryOptions(query), resourceOf('Property'), schema);
  const query = single('$select=City&$expand=Media($top=1)&$compute=1 as One&$format=json');
  assert.equal(`${selected(query)} ${expanded(query)}`, 'City Media:records[*]');
  for (const option of [
    'filter=true',
    'orderby=City',
    'search=x',
    'count=true',
    'top=1',
    'skip=1',
    'skiptoken=x',
  ]) {
    const [name] = option.split('=');
    const message = `The request is malformed: $${name} does not apply to a single record.`;
    assert.deepEqual(
      refusal(() => single(`$${option}`)),
      ['requestMalformed', message],
    );
  }
});

test('a count accepts the options that restrict it', () => {
  const counted = (query: string) =>
    bindOptions('count', parseQueryOptions(query), resourceOf('Property'), schema);
  const query = counted('$filter=ListingContractDate gt 2024-01-01&$search=x&@unused=1');
  assert.deepEqual(query.filter, compare('gt', field('ListingContractDate'), date('2024-01-01')));
  assert.deepEqual(query.search, { kind: 'word', text: 'x' });
  assert.deepEqual(
    refusal(() => counted('$top=1')),
    ['requestMalformed', 'The request is malformed: $top does not apply to a count.'],
  );
});
