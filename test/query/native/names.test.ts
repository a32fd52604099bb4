import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { standardDictionary } from '../../../src/dictionary/index.ts';
import { bindFilter } from '../../../src/query/native/filter.ts';
import { type NativeName, type NativeNames, resourceNames } from '../../../src/query/native/names.ts';
import { bindOrder } from '../../../src/query/native/request.ts';
import { bindSelection } from '../../../src/query/native/selection.ts';
import { makeSchema } from '../../../src/query/schema.ts';
import { bound, compare, errorFrom, errorOf, fieldNamed, NOW, names, ref, text } from './fixture.ts';

describe('unknown names', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['ListPrise Gt 1', 'ListPrise', 'listings has no field ListPrise at position 1. Did you mean ListPrice?'],
    ["Cty Eq 'x'", 'Cty', 'listings has no field Cty at position 1. Did you mean City?'],
    ['Nothing Eq 1', 'Nothing', 'listings has no field Nothing at position 1.'],
    ["Locatoin Eq 'x'", 'Locatoin', 'listings has no field Locatoin at position 1. Did you mean Location?'],
    // A field that the key may not see is as unknown as one that does not exist, and is never suggested.
    ["PrivateRemarks Eq 'x'", 'PrivateRemarks', 'listings has no field PrivateRemarks at position 1.'],
    ["PrivateRemark Eq 'x'", 'PrivateRemark', 'listings has no field PrivateRemark at position 1.'],
    [
      '"General Description"."Garaje" Eq \'x\'',
      '"General Description"."Garaje"',
      'listings has no field "General Description"."Garaje" at position 1. Did you mean "General Description"."Garage"?',
    ],
    [
      '"General Description"."Secret" Eq \'x\'',
      '"General Description"."Secret"',
      'listings has no field "General Description"."Secret" at position 1.',
    ],
    // The native interface has only the native name; the other interface's name suggests it.
    [
      "ListAgentKey Eq 'x'",
      'ListAgentKey',
      'listings has no field ListAgentKey at position 1. Did you mean ListAgentId?',
    ],
  ];
  for (const [filter, token, message] of cases) {
    it(filter, () => {
      const error = errorOf(filter);
      assert.equal(error.code, 'fieldUnknown');
      assert.equal(error.native, 1040);
      assert.equal(error.message, `_filter: ${message}`);
      assert.deepEqual(error.sparkql, [{ token, status: 'Dropped', message: error.message }]);
    });
  }

  it('are all reported, with the other errors', () => {
    const error = errorOf("ListPrise Gt 1 And City Gt 'x' And Bedrooms Eq 1 And BedroomsTotal Eq 'x'");
    assert.deepEqual(
      error.sparkql.map(({ token, status, message }) => [token, status, message]),
      [
        [
          'ListPrise',
          'Dropped',
          '_filter: listings has no field ListPrise at position 1. Did you mean ListPrice?',
        ],
        ['Gt', 'Fatal', '_filter: Gt cannot compare with a text, only Eq and Ne can at position 25.'],
        ['Bedrooms', 'Dropped', '_filter: listings has no field Bedrooms at position 36.'],
        [
          'x',
          'Fatal',
          '_filter: BedroomsTotal is a whole number and cannot be compared with a text at position 71.',
        ],
      ],
    );
    assert.equal(error.message, error.sparkql[0]?.message);
  });

  it('get suggestions up to a small number', () => {
    const { sparkql } = errorOf(Array.from({ length: 12 }, () => 'ListPrise Gt 1').join(' And '));
    const suggesting = sparkql.filter(({ message }) => message.endsWith('Did you mean ListPrice?'));
    assert.deepEqual([sparkql.length, suggesting.length], [12, 10]);
  });
});

describe('the location', () => {
  it('is unknown to a key that may not see both of its fields', () => {
    const blind = makeSchema(
      { resources: new Map([['Property', schemaResource()]]), lookups: new Map() },
      { resource: () => true, field: (field) => field.name !== 'Latitude' },
    );
    const found = resourceNames('listings', blind.of('Property'), blind).find('Location');
    assert.deepEqual(found, { kind: 'unknown' });
  });

  it('exists on standard listings, and not on members', () => {
    const schema = makeSchema(standardDictionary());
    const find = (resource: string) => resourceNames('x', schema.of(resource), schema).find('Location').kind;
    assert.deepEqual([find('Property'), find('Member')], ['location', 'unknown']);
  });

  const schemaResource = () => {
    const resource = standardDictionary().resources.get('Property');
    assert.ok(resource);
    return resource;
  };
});

describe('a collection other than a resource', () => {
  const known = new Map<string, NativeName>([
    ['Name', { kind: 'field', field: fieldNamed('City'), via: [] }],
    ['UserType', { kind: 'constant', text: 'Member' }],
    ['Emails', { kind: 'composite', fields: [fieldNamed('City'), fieldNamed('ListingKey')] }],
  ]);
  const accounts: NativeNames = {
    collection: 'accounts',
    find: (name) => known.get(name) ?? { kind: 'unknown' },
    findCustom: () => ({ kind: 'unknown' }),
    lookup: () => undefined,
    names: () => known.keys(),
    customNames: () => [],
    counterparts: () => [],
  };
  const read = (filter: string) => bindFilter(filter, accounts, { now: NOW });

  it('is filtered by the fields behind its names', () => {
    assert.deepEqual(read("UserType Eq 'Member' And Name Eq 'John'"), {
      kind: 'and',
      terms: [compare('eq', text('Member'), text('Member')), compare('eq', ref('City'), text('John'))],
    });
  });

  it('names what cannot be filtered or ordered', () => {
    assert.equal(
      errorFrom(() => read("Emails Eq 'x'")).message,
      '_filter: Emails is made of several fields and cannot be compared at position 1.',
    );
    assert.equal(
      errorFrom(() => bindOrder('Name,Emails', accounts)).message,
      '_orderby: Emails consists of several fields and cannot be used for ordering at position 6.',
    );
    assert.equal(
      errorFrom(() => read("Nam Eq 'x'")).message,
      '_filter: accounts has no field Nam at position 1. Did you mean Name?',
    );
  });

  it('omits a constant from the order', () => {
    assert.deepEqual(bindOrder('UserType,-Name', accounts), [{ expression: ref('City'), descending: true }]);
  });

  it('selects constants and composites by their names', () => {
    assert.deepEqual(bindSelection('Emails,UserType,Name', '', accounts, { expansions: [] }), {
      selection: {
        all: false,
        fields: [fieldNamed('City'), fieldNamed('ListingKey')],
        hidden: [],
        computed: [],
        names: ['Emails', 'UserType', 'Name'],
      },
      expansions: [],
      members: {},
    });
  });
});

describe('the update window of the specification', () => {
  it('includes both ends', () => {
    assert.deepEqual(
      bound('ModificationTimestamp bt 2026-03-14T14:00:00Z,2026-03-14T15:00:00Z'),
      bound(
        'ModificationTimestamp Ge 2026-03-14T14:00:00Z And ModificationTimestamp Le 2026-03-14T15:00:00Z',
      ),
    );
  });

  it('has the names of the fixture', () => {
    assert.deepEqual(
      [...names.names()].filter((name) => names.find(name).kind !== 'field'),
      ['Location'],
    );
    assert.deepEqual([...names.customNames()], ['"General Description"."Garage"']);
  });
});
