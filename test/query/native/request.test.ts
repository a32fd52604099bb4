import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PARAMETERS, parseParameters } from '../../../src/query/native/parameters.ts';
import { bindParameters, type NativeBounds } from '../../../src/query/native/request.ts';
import { LISTING_EXPANSIONS } from '../../../src/query/native/selection.ts';
import { compare, errorFrom, fieldNamed, NOW, names, ref, text } from './fixture.ts';

const LISTINGS: NativeBounds = {
  names,
  parameters: PARAMETERS,
  expansions: LISTING_EXPANSIONS,
  limit: { most: 1000, default: 10 },
  now: NOW,
};
const request = (query: string, bounds: NativeBounds = LISTINGS) =>
  bindParameters(parseParameters(query), bounds);
const refusal = (query: string, bounds: NativeBounds = LISTINGS) => {
  const { code, status, native, message } = errorFrom(() => request(query, bounds));
  assert.equal(status, 400);
  return { code, native, message };
};

const ALL = { all: true, fields: [], hidden: [], computed: [], names: [] };

describe('a native request', () => {
  it('without parameters returns the first rows by key', () => {
    assert.deepEqual(request(''), {
      order: [],
      selection: ALL,
      expansions: [],
      members: {},
      pagination: 'none',
      limit: 10,
      position: { kind: 'start' },
    });
  });

  it('with empty parameters is the same, from an empty token', () => {
    assert.deepEqual(request('_filter=&_select=&_expand=+&_orderby=&_skiptoken='), {
      ...request(''),
      position: { kind: 'token', token: '' },
    });
  });

  it('reads every parameter', () => {
    assert.deepEqual(
      request(
        "_filter=City+Eq+'Fargo'&_orderby=-ListPrice,+City&_select=City,Photos&_expand=Rooms&_limit=25&_page=3&_pagination=1&x=y",
      ),
      {
        filter: compare('eq', ref('City'), text('Fargo')),
        order: [
          { expression: ref('ListPrice'), descending: true },
          { expression: ref('City'), descending: false },
        ],
        selection: { all: false, fields: [fieldNamed('City')], hidden: [], computed: [], names: ['City'] },
        expansions: ['Photos', 'Rooms'],
        members: {},
        pagination: 'rows',
        limit: 25,
        position: { kind: 'page', page: 3 },
      },
    );
  });

  it('has no limit if the collection is returned completely', () => {
    const whole = { ...LISTINGS, limit: { most: 200 } };
    assert.equal('limit' in request('', whole), false);
    assert.equal(request('_limit=200', whole).limit, 200);
  });

  it('distinguishes the ways of paging', () => {
    assert.deepEqual(request('_skiptoken=abc').position, { kind: 'token', token: 'abc' });
    // A key in quotes is quoted a second time in its token.
    assert.deepEqual(request("_skiptoken=''B''").position, { kind: 'token', token: "'B'" });
    assert.deepEqual(request('_skip=0').position, { kind: 'offset', offset: 0 });
    assert.deepEqual(request('_$skip=2500000').position, { kind: 'offset', offset: 2_500_000 });
    assert.deepEqual(request('_page=100000').position, { kind: 'page', page: 100_000 });
    const modes = ['0', '1', 'count'].map((mode) => request(`_pagination=${mode}`).pagination);
    assert.deepEqual(modes, ['none', 'rows', 'count']);
  });

  const outOfBounds: readonly (readonly [string, string])[] = [
    ['_limit=0', '_limit is "0", but takes a whole number from 1 to 1000.'],
    ['_limit=1001', '_limit is "1001", but takes a whole number from 1 to 1000.'],
    ['_limit=', '_limit is "", but takes a whole number from 1 to 1000.'],
    ['_limit=1.5', '_limit is "1.5", but takes a whole number from 1 to 1000.'],
    ['_limit=-1', '_limit is "-1", but takes a whole number from 1 to 1000.'],
    ['_limit=ten', '_limit is "ten", but takes a whole number from 1 to 1000.'],
    [`_limit=${'1'.repeat(99)}`, `_limit is "${'1'.repeat(60)}…", but takes a whole number from 1 to 1000.`],
    ['_page=0', '_page is "0", but takes a whole number from 1 to 100000.'],
    ['_page=100001', '_page is "100001", but takes a whole number from 1 to 100000.'],
    ['_skip=-1', '_skip is "-1", but takes a whole number from 0 to 2500000.'],
    ['_skip=2500001', '_skip is "2500001", but takes a whole number from 0 to 2500000.'],
    ['_pagination=2', '_pagination is "2", but takes 0, 1 or count.'],
    ['_pagination=', '_pagination is "", but takes 0, 1 or count.'],
    [
      '_select=City,,ListPrice',
      '_select is "City,,ListPrice", but takes names with one comma between two of them.',
    ],
    ['_select=,', '_select is ",", but takes names with one comma between two of them.'],
    ['_expand=Photos,', '_expand is "Photos,", but takes names with one comma between two of them.'],
    ["_skiptoken='A'", `_skiptoken is "'A'", but takes a token as it was returned, without quotes.`],
    ['_skiptoken="A"', '_skiptoken is "\\"A\\"", but takes a token as it was returned, without quotes.'],
    ['_orderby="a', '_orderby is "\\"a", but takes names with one comma between two of them.'],
    [
      '_orderby=City desc',
      '_orderby is "City desc", but takes fields with commas between them, each with "-" in front for descending.',
    ],
  ];
  for (const [query, message] of outOfBounds) {
    it(`rejects ${query.slice(0, 40)}`, () =>
      assert.deepEqual(refusal(query), { code: 'optionInvalid', native: 1053, message }));
  }

  const conflicts: readonly (readonly [string, string])[] = [
    [
      '_skiptoken=&_orderby=City',
      '_skiptoken and _orderby cannot be combined: a token continues the order by key.',
    ],
    ['_skiptoken=&_page=1', '_skiptoken and _page cannot be combined: both set where the page begins.'],
    ['_skip=0&_skiptoken=', '_skiptoken and _skip cannot be combined: both set where the page begins.'],
    ['_skip=0&_page=1', '_page and _skip cannot be combined: both set where the page begins.'],
  ];
  for (const [query, message] of conflicts) {
    it(`rejects ${query}`, () =>
      assert.deepEqual(refusal(query), { code: 'optionsConflict', native: 1053, message }));
  }

  it('rejects parameters that the collection does not support', () => {
    const accounts: NativeBounds = {
      ...LISTINGS,
      names: { ...names, collection: 'accounts' },
      parameters: ['_filter', '_limit', '_skip'],
      expansions: [],
    };
    assert.deepEqual(refusal('_skiptoken=', accounts), {
      code: 'optionNotTaken',
      native: 1053,
      message: '_skiptoken does not apply to accounts; its parameters are _filter, _limit, _skip.',
    });
    assert.deepEqual(refusal('_limit=1', { ...accounts, parameters: [] }), {
      code: 'optionNotTaken',
      native: 1053,
      message: '_limit does not apply to accounts; its parameters are none.',
    });
  });

  it('reports errors of the filter', () => {
    const error = errorFrom(() => request('_filter=Cty+Eq+1'));
    assert.deepEqual(
      error.sparkql.map(({ token, status }) => [token, status]),
      [['Cty', 'Dropped']],
    );
  });
});

describe('_orderby', () => {
  const order = (value: string) => request(`_orderby=${encodeURIComponent(value)}`).order;
  const up = (name: string) => ({ expression: ref(name), descending: false });
  const down = (name: string) => ({ expression: ref(name), descending: true });

  it('reads signs, spaces and custom fields', () => {
    assert.deepEqual(order(' -ListPrice , + City,ListAgentId'), [
      down('ListPrice'),
      up('City'),
      up('ListAgentKey'),
    ]);
    assert.deepEqual(order('- "General Description"."Garage"'), [down('MAIN_Garage')]);
  });

  it('uses a field only once', () => {
    assert.deepEqual(order('-City,ListPrice,City'), [down('City'), up('ListPrice')]);
    assert.deepEqual(order('ListingKey,-Id'), [up('ListingKey')]);
  });

  const refused: readonly (readonly [string, string])[] = [
    ['City,Lisprice', '_orderby: listings has no field Lisprice at position 6. Did you mean ListPrice?'],
    ['PrivateRemarks', '_orderby: listings has no field PrivateRemarks at position 1.'],
    [
      'City, -Appliances',
      '_orderby: Appliances has several values and cannot be used for ordering at position 7.',
    ],
    ['Location', '_orderby: Location is a point and cannot be used for ordering at position 1.'],
    [
      '"General Description"."Garag"',
      '_orderby: listings has no field "General Description"."Garag" at position 1. Did you mean "General Description"."Garage"?',
    ],
  ];
  for (const [value, message] of refused) {
    it(`rejects ${value}`, () =>
      assert.equal(refusal(`_orderby=${encodeURIComponent(value)}`).message, message));
  }
});

describe('_select and _expand', () => {
  const parts = (query: string) => {
    const { selection, expansions } = request(query);
    return { selection, expansions };
  };

  it('separate names that the key may not see', () => {
    assert.deepEqual(parts('_select=City,+PrivateRemarks+,City'), {
      selection: {
        all: false,
        fields: [fieldNamed('City')],
        hidden: [fieldNamed('PrivateRemarks')],
        computed: [],
        names: ['City', 'PrivateRemarks'],
      },
      expansions: [],
    });
  });

  it('expand what either of them names, once', () => {
    assert.deepEqual(parts('_select=Photos&_expand=Videos,Photos'), {
      selection: { all: false, fields: [], hidden: [], computed: [], names: [] },
      expansions: ['Photos', 'Videos'],
    });
    assert.deepEqual(parts(`_expand=${LISTING_EXPANSIONS.join(',+')}`), {
      selection: ALL,
      expansions: [
        'Photos',
        'Videos',
        'VirtualTours',
        'Rooms',
        'Units',
        'OpenHouses',
        'Documents',
        'FloorPlans',
        'CustomFields',
        'PrimaryPhoto',
        'Supplement',
      ],
    });
  });

  const known = LISTING_EXPANSIONS.join(', ');
  const refused: readonly (readonly [string, object])[] = [
    [
      '_select=City,ListPrise',
      {
        code: 'fieldUnknown',
        native: 1040,
        message: '_select: listings has no field ListPrise at position 6. Did you mean ListPrice?',
      },
    ],
    [
      '_select=Photo',
      {
        code: 'fieldUnknown',
        native: 1040,
        message: '_select: listings has no field Photo at position 1. Did you mean Photos?',
      },
    ],
    [
      '_select=MAIN_Garage',
      {
        code: 'fieldUnknown',
        native: 1040,
        message:
          '_select: listings has no field MAIN_Garage at position 1. Did you mean "General Description"."Garage"?',
      },
    ],
    [
      '_select=MAIN_Secret',
      {
        code: 'fieldUnknown',
        native: 1040,
        message: '_select: listings has no field MAIN_Secret at position 1.',
      },
    ],
    [
      '_select=Location',
      {
        code: 'fieldUnknown',
        native: 1040,
        message: '_select: listings has no field Location at position 1.',
      },
    ],
    [
      '_expand=Rooms,photos',
      {
        code: 'expansionUnknown',
        native: 1053,
        message: `_expand: photos cannot be expanded; ${known} can. Did you mean Photos?`,
      },
    ],
    [
      '_expand=Media',
      {
        code: 'expansionUnknown',
        native: 1053,
        message: `_expand: Media cannot be expanded; ${known} can. Did you mean Photos?`,
      },
    ],
  ];
  for (const [query, expected] of refused) {
    it(`reject ${query}`, () => assert.deepEqual(refusal(query), expected));
  }

  it('report that nothing can be expanded', () => {
    assert.equal(
      refusal('_expand=Photos', { ...LISTINGS, expansions: [] }).message,
      '_expand: Photos cannot be expanded; nothing here can.',
    );
  });
});
