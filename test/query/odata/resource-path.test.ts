import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResourcePath, type ResourcePath } from '../../../src/query/odata/resource-path.ts';
import { refusal, restricted, schema } from './fixture.ts';

/** What a path addresses, as text: every step by the requested name, keys in brackets. */
function address(path: ResourcePath): string {
  switch (path.kind) {
    case 'service':
    case 'metadata':
      return path.kind;
    case 'collection':
    case 'record':
    case 'count':
    case 'field':
    case 'custom': {
      const steps = [path.root, ...path.steps].map(({ name, key }) =>
        key === undefined ? name : `${name}[${JSON.stringify(key)}]`,
      );
      const field =
        path.kind === 'field'
          ? ` ${path.field.name} ${path.give}`
          : path.kind === 'custom'
            ? ` ${path.give}`
            : '';
      return `${path.kind} ${steps.join('/')} of ${path.resource.resource.name}${field}`;
    }
  }
}

test('paths address the service, collections, records and fields', () => {
  const expected: Record<string, string> = {
    '': 'service',
    $metadata: 'metadata',
    Property: 'collection Property of Property',
    Unit: 'collection Unit of PropertyUnitTypes',
    'Property/$count': 'count Property of Property',
    "Property('a')": 'record Property["a"] of Property',
    "Property(ListingKey='a')": 'record Property["a"] of Property',
    "Property('it''s')": `record Property["it's"] of Property`,
    'Property(%27a%2Fb%27)': 'record Property["a/b"] of Property',
    "Property('a+b c%20d')": 'record Property["a+b c d"] of Property',
    'Property(0042)': 'record Property["0042"] of Property',
    'Property(01234567-89ab-cdef-0123-456789abcdef)':
      'record Property["01234567-89ab-cdef-0123-456789abcdef"] of Property',
    'Property/a': 'record Property["a"] of Property',
    'Property/a%2Fb%27c': `record Property["a/b'c"] of Property`,
    'Property/Media': 'record Property["Media"] of Property',
    "Property/x('y')": `record Property["x('y')"] of Property`,
    'EntityEvent(5)': 'record EntityEvent[5] of EntityEvent',
    "EntityEvent('5')": 'record EntityEvent[5] of EntityEvent',
    'EntityEvent/-5': 'record EntityEvent[-5] of EntityEvent',
    "Property('a')/Media": 'collection Property["a"]/Media of Media',
    'Property/a/Media': 'collection Property["a"]/Media of Media',
    'Property/a/Room': 'collection Property["a"]/Room of PropertyRooms',
    "Property('a')/Media/$count": 'count Property["a"]/Media of Media',
    "Property('a')/Media('b')": 'record Property["a"]/Media["b"] of Media',
    'Property/a/Media/b': 'record Property["a"]/Media["b"] of Media',
    "Property('a')/ListAgent": 'record Property["a"]/ListAgent of Member',
    "Property('a')/ListAgent/Office/Media": 'collection Property["a"]/ListAgent/Office/Media of Media',
    "Property('a')/CustomFields": 'custom Property["a"] of Property json',
    "Property('a')/ListAgent/CustomFields/$count": 'custom Property["a"]/ListAgent of Member count',
    "Property('a')/ListPrice": 'field Property["a"] of Property ListPrice json',
    'Property/a/ListPrice/$value': 'field Property["a"] of Property ListPrice text',
    'Property/a/Appliances/$count': 'field Property["a"] of Property Appliances count',
    'Property/a/Media/b/MediaURL': 'field Property["a"]/Media["b"] of Media MediaURL json',
  };
  for (const [path, text] of Object.entries(expected)) {
    assert.equal(address(parseResourcePath(path, schema)), text, path);
  }
});

test('a key may be a parameter alias', () => {
  const aliases = new Map([
    ['k', "'a'"],
    ['n', '5'],
    ['list', '[1]'],
  ]);
  const read = (path: string) => address(parseResourcePath(path, schema, aliases));
  assert.equal(read('Property(@k)'), 'record Property["a"] of Property');
  assert.equal(read('Property(ListingKey=@k)/Media'), 'collection Property["a"]/Media of Media');
  assert.equal(read('EntityEvent(@n)'), 'record EntityEvent[5] of EntityEvent');
  assert.deepEqual(
    refusal(() => read('EntityEvent(@k)')),
    ['typeMismatch', '@k: EntityEventSequence of EntityEvent is an integer at position 1.'],
  );
  assert.deepEqual(
    refusal(() => read('Property(@list)')),
    ['syntax', '@list: found no literal at position 1, expected a key.'],
  );
  assert.deepEqual(
    refusal(() => read('Property(@none)')),
    ['syntax', 'path: found @none without a value at position 10, expected a key.'],
  );
});

test('a path to nothing is not found', () => {
  const expected: Record<string, [string, string]> = {
    Propety: ['resourceUnknown', 'There is no resource Propety. Did you mean Property?'],
    property: ['resourceUnknown', 'There is no resource property. Did you mean Property?'],
    "Propety('a')/Media": ['resourceUnknown', 'There is no resource Propety. Did you mean Property?'],
    'no such thing': ['resourceUnknown', 'There is no resource no such thing.'],
    Teams: ['resourceUnknown', 'There is no resource Teams.'],
    '/Property': ['resourceUnknown', 'There is no resource .'],
    'Property/': ['pathNotFound', 'There is nothing at Property/.'],
    'Property/a/': ['pathNotFound', 'There is nothing at Property/a/.'],
    'Property/a/Foo': ['pathNotFound', 'There is nothing at Property/a/Foo.'],
    'Property/a/AccessCode': ['pathNotFound', 'There is nothing at Property/a/AccessCode.'],
    'Property/a/ListTeam': ['pathNotFound', 'There is nothing at Property/a/ListTeam.'],
    'Property/a/$count': ['pathNotFound', 'There is nothing at Property/a/$count.'],
    'Property/$value': ['pathNotFound', 'There is nothing at Property/$value.'],
    'Property/a/ListPrice/x': ['pathNotFound', 'There is nothing at Property/a/ListPrice/x.'],
    'Property/a/ListPrice/$count': ['pathNotFound', 'There is nothing at Property/a/ListPrice/$count.'],
    'Property/a/Appliances/$value': ['pathNotFound', 'There is nothing at Property/a/Appliances/$value.'],
    "Property('a')/ListPrice('b')": ['pathNotFound', "There is nothing at Property('a')/ListPrice('b')."],
    "Property('a')/ListAgent('b')": ['pathNotFound', "There is nothing at Property('a')/ListAgent('b')."],
    // A long key does not hide what comes after it.
    "Property('20260101000000000000000001')/Medias": [
      'pathNotFound',
      "There is nothing at Property('20260101000000000000000001')/Medias.",
    ],
    'EntityEvent/x': ['pathNotFound', 'There is nothing at EntityEvent/x.'],
    'EntityEvent/99999999999999999999': [
      'pathNotFound',
      'There is nothing at EntityEvent/99999999999999999999.',
    ],
  };
  for (const [path, error] of Object.entries(expected)) {
    assert.deepEqual(
      refusal(() => parseResourcePath(path, restricted)),
      error,
      path,
    );
  }
});

test('malformed paths and keys are rejected', () => {
  const expected: Record<string, [string, string]> = {
    'Property%2': [
      'requestMalformed',
      'The request is malformed: the percent-encoding of "Property%2" is broken.',
    ],
    "Property('a": [
      'syntax',
      "path: found a string that is not closed at position 10, expected a closing ' (a quote inside a string is written '').",
    ],
    "Property('a'": ['syntax', 'path: found the end at position 13, expected ")" or ",".'],
    "Property('a')x": ['syntax', 'path: found x at position 14, expected "(" or the end.'],
    'Property()': ['syntax', "path: found () at position 9, expected one key, such as Property('…')."],
    "Property('a','b')": [
      'syntax',
      "path: found ('a','b') at position 9, expected one key, such as Property('…').",
    ],
    "Property('a')('b')": [
      'syntax',
      "path: found ('a')('b') at position 9, expected one key, such as Property('…').",
    ],
    'Property(a)': [
      'syntax',
      'path: found no literal at position 10, expected a literal, such as a key in quotes.',
    ],
    "Property(City='a')": ['syntax', 'path: found City at position 15, expected ListingKey.'],
    'Property(true)': ['typeMismatch', 'path: ListingKey of Property is a string at position 10.'],
    "EntityEvent('x')": [
      'typeMismatch',
      'path: EntityEventSequence of EntityEvent is an integer at position 13.',
    ],
    "EntityEvent('-5')": [
      'typeMismatch',
      'path: EntityEventSequence of EntityEvent is an integer at position 13.',
    ],
    '$metadata(1)': ['syntax', 'path: found ( at position 10, expected "/" or the end.'],
    'Property/$count/x': ['pathNotFound', 'There is nothing at Property/$count/x.'],
    'Property/$foo': ['pathNotFound', 'There is nothing at Property/$foo.'],
    'Property/$metadata': ['pathNotFound', 'There is nothing at Property/$metadata. Did you mean $metadata?'],
    "Property('a')/$cuont": [
      'pathNotFound',
      "There is nothing at Property('a')/$cuont. Did you mean $count?",
    ],
    '$metadata/x': ['pathNotFound', 'There is nothing at $metadata/x.'],
    $metadat: ['pathNotFound', 'There is nothing at $metadat. Did you mean $metadata?'],
    $foo: ['pathNotFound', 'There is nothing at $foo.'],
    $: ['pathNotFound', 'There is nothing at $.'],
  };
  for (const [path, error] of Object.entries(expected)) {
    assert.deepEqual(
      refusal(() => parseResourcePath(path, schema)),
      error,
      path,
    );
  }
});

test('features of OData that this service does not support are named in the error', () => {
  const expected: Record<string, string> = {
    $batch: '$batch',
    $all: '$all',
    $entity: '$entity',
    '$crossjoin(Property,Member)': '$crossjoin',
    'Property/$ref': '$ref',
    'Property/$filter(true)': '$filter',
    'Property/$each': '$each',
    'Property/$query': '$query',
    "Property('a')/$ref": '$ref',
    "Property('a')/$value": '$value',
    "Property('a')/Ns.Act": 'Ns.Act',
    'Property/a/ListPrice/$query': '$query',
  };
  for (const [path, what] of Object.entries(expected)) {
    const message = `path: ${what} is not provided by this service.`;
    assert.deepEqual(
      refusal(() => parseResourcePath(path, schema)),
      ['notImplemented', message],
      path,
    );
  }
});
