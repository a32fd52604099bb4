/** Counts of values on the admin port, as a role or a key sees the records. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { RoleDefinition } from '../../../src/access/index.ts';
import { ROUGH_EDGES, rangeEdges } from '../../../src/service/console/range-edges.ts';
import { listing, member, office } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const ROLES: readonly RoleDefinition[] = [
  { name: 'agents', classes: 'all', resources: { Property: '', Member: '' } },
  { name: 'accountless', classes: 'all', resources: { Property: '' } },
];

const service = await startTestService(
  { after },
  {
    fill: async ({ write, store }) => {
      await store.configure((settings) => ({
        ...settings,
        access: {
          ...settings.access,
          roles: [...settings.access.roles, ...ROLES],
        },
      }));
      await write(
        'Member',
        member('1', { MemberFirstName: 'Ann', OriginatingSystemName: 'North' }),
        member('2', { MemberFirstName: 'Ann', MemberStatus: 'Inactive' }),
        member('3'),
      );
      await write('Office', office('1', { OriginatingSystemName: 'North' }));
      await write(
        'Property',
        listing('1', { City: 'Ely', ListPrice: 100_000, Appliances: ['Oven', 'Dishwasher'] }),
        listing('2', { City: 'Ely', ListPrice: 149_999, Appliances: ['Oven'], OriginatingSystemID: 'S1' }),
        listing('3', { City: 'Zug', ListPrice: 900_000, InternetAddressDisplayYN: false }),
        listing('4', { City: 'Zug', StandardStatus: 'Closed', PrivateRemarks: 'x' }),
      );
    },
  },
);
const token = await service.key('admin');
const ask = (path: string, as = 'role/private/api') =>
  service.get('admin', `/as/${as}/facets/${path}`, { token });
const fault = async (path: string, as?: string) => resoFault(await ask(path, as)).slice(0, 2);

test('values are counted, most frequent first, and a histogram has round edges or the given ones', async () => {
  const { status, json, headers } = await ask(
    "Property?fields=City,Appliances&histogram=ListPrice&$filter=StandardStatus eq 'Active'",
  );
  assert.deepEqual([status, headers['cache-control']], [200, 'no-store']);
  const { histogram, ...rest } = json;
  assert.deepEqual(rest, {
    resource: 'Property',
    records: 3,
    fields: [
      {
        field: 'City',
        values: [
          { value: 'Ely', records: 2 },
          { value: 'Zug', records: 1 },
        ],
        more: 0,
        none: 0,
      },
      {
        field: 'Appliances',
        values: [
          { value: 'Oven', records: 2 },
          { value: 'Dishwasher', records: 1 },
        ],
        more: 0,
        none: 1,
      },
    ],
  });
  const edges = Array.from({ length: 12 }, (_, index) => 75_000 + index * 75_000);
  const records = [0, 2, ...Array.from({ length: 10 }, () => 0), 1];
  assert.deepEqual(histogram, {
    field: 'ListPrice',
    edges,
    records,
    none: 0,
    least: 100_000,
    greatest: 900_000,
  });
  const given = await ask('Property?histogram=ListPrice&edges=100000.5,200000');
  assert.deepEqual(given.json.histogram, {
    field: 'ListPrice',
    edges: [100_000.5, 200_000],
    records: [1, 1, 1],
    none: 1,
    least: 100_000,
    greatest: 900_000,
  });
});

test('each role or key gets the counts of the records that it sees', async () => {
  await service.key('api', { role: 'idx', systems: ['S1'] });
  const [scoped] = (await service.store.keys.list()).filter(({ systems }) => systems[0] === 'S1');
  const cities = async (as: string) => {
    const { json } = await ask('Property?fields=City', as);
    return [json.records, json.fields];
  };
  const [ely, zug] = [
    { value: 'Ely', records: 2 },
    { value: 'Zug', records: 1 },
  ];
  assert.deepEqual(await cities('role/idx/replication'), [
    3,
    [{ field: 'City', values: [ely], more: 0, none: 1 }],
  ]);
  assert.deepEqual(await cities('role/private/api'), [
    4,
    [{ field: 'City', values: [ely, { ...zug, records: 2 }], more: 0, none: 0 }],
  ]);
  assert.deepEqual(await cities(`key/${scoped?.id}/api`), [
    1,
    [{ field: 'City', values: [{ value: 'Ely', records: 1 }], more: 0, none: 0 }],
  ]);
});

test('a hidden field is an unknown name, and fields, options and paths that cannot be counted are refused', async () => {
  assert.deepEqual(await fault('Property?fields=City,DualOrVariableRateCommissionYN', 'role/idx/api'), [
    400,
    'fieldUnknown',
  ]);
  assert.deepEqual(await fault('Property?fields=Nothing', 'role/idx/api'), [400, 'fieldUnknown']);
  assert.deepEqual(await fault('Property?histogram=OriginalListPrice', 'role/idx/api'), [
    400,
    'fieldUnknown',
  ]);
  assert.deepEqual(await fault("Property?$filter=PrivateRemarks eq 'x'", 'role/idx/api'), [
    400,
    'fieldUnknown',
  ]);
  const hidden = await ask("v1/accounts?_filter=Mls Eq 'North'", 'role/idx/api');
  const message = '_filter: accounts has no field Mls at position 1.';
  assert.deepEqual(
    hidden.json.error,
    { code: 'fieldUnknown', message, target: '_filter' },
    'and no suggestion',
  );
  assert.deepEqual(await fault('Property?fields=PrivateRemarks'), [400, 'typeMismatch']);
  assert.deepEqual(await fault('Property?histogram=City'), [400, 'typeMismatch']);
  assert.deepEqual(await fault('Property?histogram=ListPrice&edges=2,1'), [400, 'optionInvalid']);
  assert.deepEqual(await fault('Property?$filter=City eq'), [400, 'syntax']);
  assert.deepEqual(await fault('Property?$orderby=City'), [400, 'requestMalformed']);
  assert.deepEqual(await fault('Nothing'), [404, 'resourceUnknown']);
  assert.deepEqual(await fault("Property('1')"), [404, 'pathNotFound']);
  assert.deepEqual(await fault('Property', 'role/idx/floorplans'), [404, 'resourceUnknown']);
  const stranger = await service.get('admin', '/as/role/idx/api/facets/Property');
  assert.deepEqual(resoFault(stranger).slice(0, 2), [401, 'tokenMissing']);
  const open = await service.get('api', '/facets/Property', { token: await service.key('api') });
  assert.deepEqual(resoFault(open).slice(0, 2), [404, 'pathNotFound']);
});

test('the native interface is counted by its own names and filters', async () => {
  const given = '"General"."Lake, River"';
  const { json } = await ask(
    `v1/listings?fields=City,Appliances,InternetAddressDisplayYN,ListAgentId&histogram=ListPrice&edges=150000&_filter=StandardStatus Eq 'Active'`,
  );
  assert.deepEqual([json.resource, json.records], ['listings', 3]);
  const none = { values: [], more: 0 };
  assert.deepEqual(json.fields, [
    {
      field: 'City',
      values: [
        { value: 'Ely', records: 2 },
        { value: 'Zug', records: 1 },
      ],
      more: 0,
      none: 0,
    },
    {
      field: 'Appliances',
      values: [
        { value: 'Oven', records: 2 },
        { value: 'Dishwasher', records: 1 },
      ],
      more: 0,
      none: 1,
    },
    { field: 'InternetAddressDisplayYN', values: [{ value: false, records: 1 }], more: 0, none: 2 },
    { field: 'ListAgentId', ...none, none: 3 },
  ]);
  assert.deepEqual(json.histogram, {
    field: 'ListPrice',
    edges: [150_000],
    records: [2, 1],
    none: 0,
    least: 100_000,
    greatest: 900_000,
  });
  assert.deepEqual(
    await Promise.all([
      fault('v1/listings?fields=City,PrivateRemarks', 'role/idx/api'),
      fault("v1/listings?_filter=PrivateRemarks Eq 'x'", 'role/idx/api'),
      fault('v1/listings?fields=PrivateRemarks'),
      fault('v1/listings?fields=Location'),
      fault(`v1/listings?fields=${encodeURIComponent(given)}`),
      fault('v1/listings?fields=City&_filter=City Eq'),
      fault('v1/listings?fields=City&_orderby=City'),
      fault('v1/accounts?fields=City'),
      fault('v1/accounts?fields=Company'),
      fault('v1/accounts?histogram=Mls'),
      fault('v1/accounts?fields=Status', 'role/accountless/api'),
      fault('v1/listings?fields=City', 'role/idx/floorplans'),
    ]),
    [
      [400, 'fieldUnknown'],
      [400, 'fieldUnknown'],
      [400, 'typeMismatch'],
      [400, 'typeMismatch'],
      [400, 'fieldUnknown'],
      [400, 'syntax'],
      [400, 'optionNotTaken'],
      [400, 'fieldUnknown'],
      [400, 'typeMismatch'],
      [400, 'typeMismatch'],
      [404, 'resourceUnknown'],
      [404, 'resourceUnknown'],
    ],
  );
  const idx = await ask("v1/listings?fields=City&_filter=City Ne 'Rome'", 'role/idx/api');
  assert.deepEqual(idx.json.fields, [
    { field: 'City', values: [{ value: 'Ely', records: 2 }], more: 0, none: 1 },
  ]);
  const houses = await ask('v1/openhouses?fields=Date&_filter=Date Ge 2026-01-01');
  assert.deepEqual(houses.json, {
    resource: 'openhouses',
    records: 0,
    fields: [{ field: 'Date', ...none, none: 0 }],
  });
});

test('accounts of the native interface are agents and offices, counted together', async () => {
  const { json } = await ask('v1/accounts?fields=UserType,Status,Mls,FirstName');
  assert.deepEqual(json, {
    resource: 'accounts',
    records: 4,
    fields: [
      {
        field: 'UserType',
        values: [
          { value: 'Member', records: 3 },
          { value: 'Office', records: 1 },
        ],
        ...{ more: 0, none: 0 },
      },
      {
        field: 'Status',
        values: [
          { value: 'Active', records: 3 },
          { value: 'Inactive', records: 1 },
        ],
        ...{ more: 0, none: 0 },
      },
      { field: 'Mls', values: [{ value: 'North', records: 2 }], more: 0, none: 2 },
      { field: 'FirstName', values: [{ value: 'Ann', records: 2 }], more: 0, none: 2 },
    ],
  });
  const counts = async (filter: string, as?: string) => {
    const { json: found } = await ask(`v1/accounts?fields=UserType&_filter=${filter}`, as);
    return [found.records, found.fields];
  };
  const none = { more: 0, none: 0 };
  assert.deepEqual(await counts("UserType Eq 'Office'"), [
    1,
    [{ field: 'UserType', values: [{ value: 'Office', records: 1 }], ...none }],
  ]);
  assert.deepEqual(await counts("Status Eq 'Inactive'", 'role/agents/api'), [
    1,
    [{ field: 'UserType', values: [{ value: 'Member', records: 1 }], ...none }],
  ]);
  assert.deepEqual(await counts("Status Eq 'None'"), [0, [{ field: 'UserType', values: [], ...none }]]);
});

test('the counts of a resource without records are zero', async () => {
  const { json } = await ask('OpenHouse?fields=OpenHouseStatus');
  assert.deepEqual(json, {
    resource: 'OpenHouse',
    records: 0,
    fields: [{ field: 'OpenHouseStatus', values: [], more: 0, none: 0 }],
  });
});

test('the edges of a histogram are round and do not stretch to a few outliers', () => {
  const at = (edge: number, count: number) => [ROUGH_EDGES.indexOf(edge), count] as const;
  const rough = (least: number, greatest: number, ...counts: (readonly [number, number])[]) => {
    const found = new Map(counts);
    const records = Array.from({ length: ROUGH_EDGES.length + 1 }, (_, index) => found.get(index) ?? 0);
    return { records, none: 0, least, greatest };
  };
  // 99 prices between 200,000 and 1,000,000, and one outlier.
  const castle = rangeEdges(
    rough(250_000, 80_000_000, at(500_000, 50), at(1_000_000, 49), at(100_000_000, 1)),
    false,
  );
  assert.deepEqual([castle[0], castle[1], castle.at(-1)], [225_000, 300_000, 1_050_000]);
  const years = rangeEdges(rough(1891, 2026, at(2000, 60), at(5000, 40)), true);
  assert.deepEqual([years[0], years[1], years.at(-1)], [1890, 1900, 2030]);
  assert.deepEqual(rangeEdges(rough(0, 3, at(0.1, 1), at(2, 9), at(5, 9)), true), [0, 1, 2, 3]);
  assert.deepEqual(rangeEdges(rough(7, 7, at(10, 3)), true), [7, 8]);
  assert.deepEqual(rangeEdges({ records: [], none: 4, least: null, greatest: null }, true), []);
  const west = rangeEdges(rough(-96.5, -90, [0, 10]), false);
  assert.deepEqual([west[0], west[1], west.at(-1)], [-96.5, -96, -90]);
});
