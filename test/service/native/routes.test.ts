/** Paths of the native interface other than listings and accounts (docs/native.md). */
import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from 'plat-demo';
import { office, openHouse } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { pick } from '../../support/world.ts';
import { nativeAsker } from './asker.ts';
import {
  FIRST,
  fillMarket,
  HIDDEN_KEYS,
  KEYS,
  marketListing,
  OFFICES,
  SECOND,
  SYSTEM,
  THIRD,
} from './market.ts';

/** Degrees of latitude north of the requested point; 0.01 degrees are 0.69 miles. */
const PLACES: Readonly<Record<string, number>> = {
  [THIRD]: 0.01,
  [FIRST]: 0.02,
  [SECOND]: 0.1,
  [KEYS[3]]: 0.2,
  [KEYS[4]]: 0.015,
  [HIDDEN_KEYS[1]]: 0.005,
};

const service = await startTestService(
  { after },
  {
    settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
    fill: async (world) => {
      await fillMarket(world);
      await world.store.configure(({ access, ...settings }) => ({
        ...settings,
        access: {
          ...access,
          roles: [...access.roles, { name: 'listings', classes: 'all', resources: { Property: '' } }],
        },
      }));
      for (const [key, north] of Object.entries(PLACES)) {
        await world.write(
          'Property',
          marketListing(key, {
            Latitude: (46_800 + 1000 * north) / 1000,
            Longitude: -96.8,
            // The fifth seller hides the address.
            InternetAddressDisplayYN: key !== KEYS[4],
            InternetEntireListingDisplayYN: key !== HIDDEN_KEYS[1],
            ...(key === HIDDEN_KEYS[1]
              ? { OpenHouses: [openHouse('H9', { OpenHouseDate: '2026-06-07' })] }
              : {}),
          }),
        );
      }
      await world.write(
        'Property',
        marketListing(KEYS[5], { OpenHouses: [openHouse('H0', { OpenHouseDate: '2026-06-07' })] }),
      );
    },
  },
);
const all = nativeAsker(service, 'api', await service.key('api', { role: 'private' }));
const idx = nativeAsker(service, 'api', await service.key('api', { role: 'idx' }));
const POINT = '_lat=46.8&_lon=-96.8';

describe('/v1/listings/nearby', () => {
  it('returns listings around a point, nearest first, if the key sees their location', async () => {
    assert.deepEqual(await idx.keys(`listings/nearby?${POINT}`), [THIRD, FIRST, SECOND]);
    assert.deepEqual(await all.keys(`listings/nearby?${POINT}`), [
      HIDDEN_KEYS[1],
      THIRD,
      KEYS[4],
      FIRST,
      SECOND,
    ]);
    assert.deepEqual(await idx.keys(`listings/nearby?${POINT}&_distance=1.2`), [THIRD]);
    assert.deepEqual(await idx.keys(`listings/nearby?${POINT}&_distance=100`), [
      THIRD,
      FIRST,
      SECOND,
      KEYS[3],
    ]);
    assert.deepEqual(await idx.keys('listings/nearby?_lat=-46.8&_lon=+96.8'), []);
  });

  it('accepts a filter, paging, counting and a selection', async () => {
    const path = `listings/nearby?${POINT}&_limit=1&_pagination=1&_select=City,PrimaryPhoto.Uri300`;
    const { keys, rows, pagination, token } = await idx.page(`${path}&_page=2&_filter=City Ne 'Moorhead'`);
    assert.deepEqual(
      [keys, token, pagination],
      [[FIRST], undefined, { TotalRows: 2, PageSize: 1, TotalPages: 2, CurrentPage: 2 }],
    );
    assert.deepEqual(rows[0]?.StandardFields, {
      City: 'Fargo',
      Photos: [
        {
          Id: 'P1',
          ResourceUri: `/v1/listings/${FIRST}/photos/P1`,
          Uri300: 'https://images.example/P1.jpg',
        },
      ],
    });
    const counted = await idx.page(`listings/nearby?${POINT}&_pagination=count`);
    assert.deepEqual(
      [counted.keys, counted.pagination],
      [[], { TotalRows: 3, PageSize: 10, TotalPages: 1, CurrentPage: 1 }],
    );
  });

  it('requires the point, and refuses invalid parameters', async () => {
    assert.deepEqual(await idx.fault('listings/nearby'), [400, 1050, 'The parameter _lat is required.']);
    assert.deepEqual(await idx.fault('listings/nearby?_lat=1'), [
      400,
      1050,
      'The parameter _lon is required.',
    ]);
    for (const [query, message] of [
      [
        `${POINT}&_skiptoken=`,
        '_skiptoken does not apply to listings/nearby; its parameters are _lat, _lon, _distance, _filter, _select, _expand, _limit, _skip, _page, _pagination.',
      ],
      ['_lat=91&_lon=0', '_lat is "91", but takes a number of degrees from -90 to 90.'],
      ['_lat=1&_lon=1e2', '_lon is "1e2", but takes a number of degrees from -180 to 180.'],
      ['_lat=&_lon=0', '_lat is "", but takes a number of degrees from -90 to 90.'],
      [`${POINT}&_distance=0`, '_distance is "0", but takes a number of miles above 0, up to 100.'],
      [`${POINT}&_limit=26`, '_limit is "26", but takes a whole number from 1 to 25.'],
      [`${POINT}&_radius=1`, 'The query option _radius is not known.'],
    ] as const) {
      assert.deepEqual(await idx.fault(`listings/nearby?${query}`), [400, 1053, message]);
    }
    assert.equal((await idx.fault(`listings/nearby?${POINT}&_orderby=City`))[1], 1053);
    assert.equal((await idx.fault('listings?_lat=46.8'))[1], 1053);
  });

  it('in a filter: radius around a listing finds its neighbors, and nothing if its location is hidden', async () => {
    const around = (key: string, miles: number): string =>
      `listings?_filter=Location Eq radius('${key}',${miles})`;
    assert.deepEqual(await idx.keys(around(FIRST, 0.8)), [FIRST, THIRD]);
    assert.deepEqual(await all.keys(around(FIRST, 0.8)), [FIRST, THIRD, KEYS[4]]);
    // A listing with a hidden location is indistinguishable from a missing one.
    for (const key of [KEYS[4], '9'.repeat(26)]) {
      assert.deepEqual(await idx.keys(around(key, 100)), []);
      assert.equal(
        (await idx.keys(`listings?_filter=Location Ne radius('${key}',100)&_limit=25`)).length,
        12,
      );
    }
    assert.deepEqual(await all.keys(around(KEYS[4], 0.4)), [THIRD, FIRST, KEYS[4]].toSorted());
  });
});

describe('/v1/accounts/by/office/<key>', () => {
  it('returns the agents of the office that the key sees, with the parameters of /v1/accounts', async () => {
    assert.deepEqual(await idx.keys('accounts/by/office/O1'), ['B2', 'K1']);
    const { rows, pagination } = await idx.page(
      "accounts/by/office/O1?_filter=Name Eq 'J*'&_select=Name,OfficeId&_pagination=1",
    );
    assert.deepEqual(
      [rows, pagination],
      [
        [{ Id: 'K1', ResourceUri: '/v1/accounts/K1', Name: 'John Miller', OfficeId: 'O1' }],
        { TotalRows: 1, PageSize: 10, TotalPages: 1, CurrentPage: 1 },
      ],
    );
    assert.deepEqual(await idx.keys('accounts/by/office/O1?_orderby=-Id&_limit=1&_skip=1'), ['B2']);
  });

  it('returns an empty list for an office that is hidden, missing or without agents', async () => {
    for (const key of ['K1', 'O9', 'none']) {
      const { text } = await idx.get(`accounts/by/office/${key}`);
      assert.equal(text, '{"D":{"Success":true,"Results":[]}}');
    }
    assert.equal((await idx.fault('accounts/by/agent/O1'))[0], 404);
  });
});

test('a renamed office shows in its agents at the next request: in accounts, filters, orders and tags', async () => {
  const of = async (key: string): Promise<unknown> => (await idx.one(`accounts/${key}`)).Office;
  const { etag = '' } = (await idx.get('accounts/K1')).headers;
  // One agent's record has the name of the office, the other only its key.
  assert.deepEqual([await of('K1'), await of('B2')], ['Lake Homes', 'Lake Homes']);
  await service.write('Office', office('O1', { ...OFFICES[0], OfficeName: 'Aspen Homes' }));
  assert.deepEqual([await of('K1'), await of('B2')], ['Aspen Homes', 'Aspen Homes']);
  assert.equal((await idx.get('accounts/K1', { headers: { 'if-none-match': etag } })).status, 200);
  assert.deepEqual(
    (await idx.page('accounts?_select=Office,ResourceUri')).rows.map(({ Id, Office }) => [Id, Office]),
    [
      ['B2', 'Aspen Homes'],
      ['K1', 'Aspen Homes'],
      ['K1', 'Kay One'],
      ['O1', 'Aspen Homes'],
    ],
  );
  assert.deepEqual(await idx.keys("accounts?_filter=Office Eq 'Aspen*' And UserType Eq 'Member'"), [
    'B2',
    'K1',
  ]);
  assert.deepEqual(await idx.keys("accounts?_filter=Office Eq 'Lake Homes'"), []);
  assert.deepEqual(await idx.keys('accounts?_orderby=-Office&_limit=1'), ['K1']);
  // If the key does not see the office, the value in the agent's own record is returned.
  await service.write(
    'Office',
    office('O1', { ...OFFICES[0], OfficeName: 'Aspen Homes', OfficeStatus: 'Inactive' }),
  );
  assert.deepEqual([await of('K1'), await of('B2')], ['Lake Homes', null]);
  await service.write('Office', ...OFFICES.slice(0, 1));
});

describe('/v1/openhouses', () => {
  const first = {
    Id: 'H1',
    ResourceUri: `/v1/listings/${FIRST}/openhouses/H1`,
    Date: '06/06/2026',
    StartTime: '02:00 PM',
    EndTime: '04:30 PM',
    Comments: 'Coffee & cake',
    OpenHouseStartTimestamp: '2026-06-06T14:00:00Z',
    OpenHouseEndTimestamp: '2026-06-06T16:30:00Z',
    ListingKey: FIRST,
  };

  it('returns the open houses of all listings that the key sees, each with its ListingKey', async () => {
    const { rows, pagination } = await idx.page('openhouses?_pagination=1');
    assert.deepEqual(pagination, { TotalRows: 2, PageSize: 10, TotalPages: 1, CurrentPage: 1 });
    assert.deepEqual(rows, [
      {
        ...Object.fromEntries(Object.keys(first).map((name) => [name, null])),
        Id: 'H0',
        ResourceUri: `/v1/listings/${KEYS[5]}/openhouses/H0`,
        Date: '06/07/2026',
        ListingKey: KEYS[5],
      },
      first,
    ]);
    assert.deepEqual(await all.keys('openhouses'), ['H0', 'H1', 'H9']);
  });

  it('filters and orders by native names and by dictionary names', async () => {
    assert.deepEqual(await all.keys('openhouses?_filter=Date Ge 2026-06-07&_orderby=-Id'), ['H9', 'H0']);
    assert.deepEqual(await all.keys("openhouses?_filter=OpenHouseRemarks Eq '*cake'"), ['H1']);
    assert.deepEqual(await all.keys('openhouses?_orderby=-StartTime,Date&_limit=2&_page=1'), ['H1', 'H0']);
    assert.deepEqual((await idx.page('openhouses?_select=Date,ListingKey&_skip=1')).rows, [
      pick(first, 'Id', 'ResourceUri', 'Date', 'ListingKey'),
    ]);
  });

  it('refuses unknown fields and parameters that do not apply', async () => {
    assert.deepEqual(await idx.fault('openhouses?_select=OpenHouseDate'), [
      400,
      1040,
      '_select: openhouses has no field OpenHouseDate.',
    ]);
    assert.deepEqual(await idx.fault('openhouses?_filter=Dat Eq 2026-06-07'), [
      400,
      1040,
      '_filter: openhouses has no field Dat at position 1. Did you mean Date?',
    ]);
    assert.equal((await idx.fault('openhouses?_skiptoken=H0'))[1], 1053);
    assert.equal((await idx.fault('openhouses?_expand=Photos'))[1], 1053);
  });
});

test('/v1/my/account returns the account of the key, with an ETag', async () => {
  const mine = nativeAsker(
    service,
    'replication',
    await service.key('replication', { role: 'idx', systems: [SYSTEM] }),
  );
  const account = await mine.one('my/account');
  assert.deepEqual(pick(account, 'ResourceUri', 'Name', 'UserType', 'Role', 'KeyType', 'MlsId', 'Emails'), {
    ResourceUri: '/v1/my/account',
    Name: 'replication idx',
    UserType: 'Key',
    Role: 'idx',
    KeyType: 'replication',
    MlsId: SYSTEM,
    Emails: [],
  });
  assert.deepEqual(await mine.one('my/account?_select=Name'), pick(account, 'Id', 'ResourceUri', 'Name'));
  const { etag = '' } = (await mine.get('my/account')).headers;
  assert.equal((await mine.get('my/account', { headers: { 'if-none-match': etag } })).status, 304);
  assert.equal((await idx.one('my/account')).MlsId, null);
  assert.deepEqual(await idx.fault('my/account?_select=Nam'), [
    400,
    1040,
    '_select: my/account has no field Nam at position 1. Did you mean Name?',
  ]);
  for (const path of ['my', 'my/listings', 'my/account/1']) assert.equal((await idx.fault(path))[0], 404);
});

test('/v1/propertytypes returns the property types by the values that filters use', async () => {
  for (const path of ['propertytypes', 'propertytypes/all']) {
    const { rows } = await idx.page(path);
    assert.deepEqual(rows[0], { MlsName: 'Business Opportunity', MlsCode: 'Business Opportunity' });
    assert.ok(rows.some(({ MlsCode }) => MlsCode === 'Residential'));
    const { MlsCode } = rows[0] ?? {};
    assert.deepEqual(await idx.keys(`listings?_filter=PropertyType Eq '${String(MlsCode)}'`), []);
  }
  assert.equal((await idx.fault('propertytypes?_limit=1'))[1], 1053);
  assert.equal((await idx.fault('propertytypes/A'))[0], 404);
});

test('/v1/customfields/<name> returns a field by current or API name; a property type returns all', async () => {
  const [snow] = (await idx.page('customfields/Snow%20Removal')).rows;
  const described = {
    ResourceUri: '/v1/customfields/Winter_SnowRemoval',
    Label: 'Snow Removal',
    Type: 'Character',
    Searchable: true,
    HasList: true,
    MultiSelect: false,
    MaxLength: 50,
    Section: 'Main',
    FieldName: 'Winter_SnowRemoval',
    FieldList: ['Association', 'City', 'Owner', 'Private Road Fund'].map((name) => ({
      Name: name,
      Value: name,
    })),
    Group: 'Winter',
  };
  assert.deepEqual(snow, { 'Snow Removal': described });
  assert.deepEqual((await idx.page('customfields/Winter_SnowRemoval')).rows, [
    { Winter_SnowRemoval: described },
  ]);
  const whole = await idx.page('customfields');
  assert.deepEqual(
    whole.rows.map((group) => Object.keys(group)),
    [['Winter'], ['Lake Living']],
  );
  assert.deepEqual((await idx.page('customfields/Residential')).rows, whole.rows);
  for (const name of ['Heating%20Cost', 'OfficeUse_KeySafe', 'Nothing']) {
    const message = `There is nothing at /v1/customfields/${name}.`;
    assert.deepEqual(await idx.fault(`customfields/${name}`), [404, 404, message]);
  }
});

test('HEAD gets the response of GET without a body', async () => {
  for (const path of [
    `listings/nearby?${POINT}`,
    'openhouses',
    'propertytypes',
    'accounts/by/office/O1',
    'my/account',
  ]) {
    const [whole, head] = [await idx.get(path), await idx.get(path, { method: 'HEAD' })];
    assert.deepEqual(
      [head.status, head.text, head.headers['content-type']],
      [200, '', whole.headers['content-type']],
    );
  }
});

test('for a role that reads neither agents nor offices there are no accounts', async () => {
  const listings = nativeAsker(service, 'api', await service.key('api', { role: 'listings' }));
  for (const path of ['accounts', 'accounts/K1', 'accounts/none', 'accounts/by/office/O1']) {
    assert.deepEqual(await listings.fault(path), [404, 404, 'There is no resource accounts.'], path);
  }
});
