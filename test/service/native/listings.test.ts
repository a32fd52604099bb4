/** `/v1/listings` and `/v1/listings/<key>` (specification 2.2, 4.3; contract, Native interface; native-v1). */
import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from 'plat-demo';
import { startTestService } from '../../support/service.ts';
import { pick } from '../../support/world.ts';
import { envelopeOf, objectIn } from '../http/envelopes.ts';
import { nativeAsker } from './asker.ts';
import {
  FIRST,
  fillMarket,
  HIDDEN_KEYS,
  KEYS,
  MODIFIED,
  marketListing,
  SECOND,
  SYSTEM,
  THIRD,
} from './market.ts';

const service = await startTestService(
  { after },
  {
    fill: async (world) => {
      await fillMarket(world);
      world.clock.set('2026-06-01T12:01:00Z');
      const custom = {
        Winter_SnowRemoval: 'City',
        Winter_HeatingCost: 1234.5,
        LakeLiving_Uses: ['No Wake'],
        UnparsedAddress: '12 Lake Rd, Moorhead, MN',
      };
      await world.write('Property', marketListing(SECOND, custom));
      world.clock.set('2026-06-01T13:00:00Z');
    },
    settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
  },
);
const all = nativeAsker(service, 'replication', await service.key('replication'));
const feed = nativeAsker(service, 'replication', await service.key('replication', { role: 'idx' }));
const api = nativeAsker(service, 'api', await service.key('api', { role: 'idx' }));

describe('the envelope', () => {
  it('of a success has Success, Results and SkipToken, in this order', async () => {
    const { text, headers } = await api.get('listings?_limit=1&_select=ListPrice');
    const expected = `{"D":{"Success":true,"Results":[{"Id":"${FIRST}","ResourceUri":"/v1/listings/${FIRST}","StandardFields":{"ListPrice":100000},"LastCachedTimestamp":null,"DisplayCompliance":{"View":"Summary"}}],"SkipToken":"${FIRST}"}}`;
    assert.equal(text, expected);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  });

  it('of one record has the view Detail and no token', async () => {
    const { text } = await api.get(`listings/${FIRST}?_select=ListPrice`);
    const expected = `{"D":{"Success":true,"Results":[{"Id":"${FIRST}","ResourceUri":"/v1/listings/${FIRST}","StandardFields":{"ListPrice":100000},"LastCachedTimestamp":null,"DisplayCompliance":{"View":"Detail"}}]}}`;
    assert.equal(text, expected);
  });

  it('of an error names the parameter, and is JSON whatever the client accepts', async () => {
    const answer = await api.get('listings?_limit=0', { headers: { accept: 'application/xml' } });
    const message = '_limit is "0", but takes a whole number from 1 to 25.';
    assert.deepEqual(
      [answer.status, answer.json],
      [
        400,
        {
          D: {
            Success: false,
            Code: 1053,
            Message: message,
            Errors: [{ Type: 'Parameter', Attribute: '_limit', Message: message }],
          },
        },
      ],
    );
  });

  it('of an invalid filter names each error', async () => {
    const answer = await api.get("listings?_filter=ListPrise Gt 100000 And City Gt 'A'");
    const [first, second] = [
      '_filter: listings has no field ListPrise at position 1. Did you mean ListPrice?',
      '_filter: Gt cannot compare with a text, only Eq and Ne can at position 30.',
    ];
    assert.deepEqual(
      [answer.status, answer.json],
      [
        400,
        {
          D: {
            Success: false,
            Code: 1040,
            Message: first,
            SparkQLErrors: [
              { Token: 'ListPrise', Message: first, Status: 'Dropped' },
              { Token: 'Gt', Message: second, Status: 'Fatal' },
            ],
          },
        },
      ],
    );
  });

  it('percent-encodes keys in ResourceUri, and these URIs can be requested', async () => {
    const { rows } = await feed.page('listings?_skiptoken=3&_select=Id');
    assert.deepEqual(
      rows.map(({ Id, ResourceUri }) => [Id, ResourceUri]),
      [
        ['A B/1', '/v1/listings/A%20B%2F1'],
        ['a', '/v1/listings/a'],
        ['Ä', '/v1/listings/%C3%84'],
        ['日', '/v1/listings/%E6%97%A5'],
      ],
    );
    for (const { Id, ResourceUri } of rows) {
      assert.deepEqual(await feed.keys(String(ResourceUri).slice('/v1/'.length)), [Id]);
    }
  });
});

describe('a listing', () => {
  it('has its values with their types and nulls, and agent and office under Id', async () => {
    const fields = await all.fields(`listings/${FIRST}`);
    assert.deepEqual(
      pick(
        fields,
        'ListingKey',
        'ListPrice',
        'BedroomsTotal',
        'City',
        'Appliances',
        'PrivateRemarks',
        'ListAgentId',
        'ListAgentPreferredPhone',
        'ListAgentFullName',
        'ListOfficeId',
        'ListOfficeName',
        'CoListAgentId',
        'BuyerAgentFullName',
        'ModificationTimestamp',
        'PhotosChangeTimestamp',
        'OpenHousesChangeTimestamp',
      ),
      {
        ListingKey: FIRST,
        ListPrice: 100000,
        BedroomsTotal: 0,
        City: 'Fargo',
        Appliances: ['Dishwasher', 'Oven'],
        PrivateRemarks: 'Call first, 0',
        ListAgentId: 'K1',
        ListAgentPreferredPhone: '555-0101',
        ListAgentFullName: 'John Miller',
        ListOfficeId: 'O1',
        ListOfficeName: 'Lake Homes',
        CoListAgentId: null,
        BuyerAgentFullName: null,
        ModificationTimestamp: '2026-06-01T12:00:00.900Z',
        PhotosChangeTimestamp: '2026-06-01T12:00:00.900Z',
        OpenHousesChangeTimestamp: '2026-06-01T12:00:00.900Z',
      },
    );
    assert.equal('ListAgentKey' in fields || 'ListOfficeKey' in fields, false);
    assert.equal((await all.fields(`listings/${KEYS[5]}`)).ListPrice, null);
    assert.deepEqual((await all.fields(`listings/${KEYS[1]}`)).Appliances, []);
  });

  it('keeps the key of every field that the role may not see, with eight asterisks', async () => {
    const [seen, masked] = [await all.fields(`listings/${FIRST}`), await api.fields(`listings/${FIRST}`)];
    assert.deepEqual(Object.keys(masked).toSorted(), Object.keys(seen).toSorted());
    const differing = Object.keys(seen).filter(
      (name) => JSON.stringify(seen[name]) !== JSON.stringify(masked[name]),
    );
    const model = await service.store.model();
    const hidden = [...model.resource('Property').fields.values()].filter(
      (field) => model.inUse(field) && !model.rules.roles.get('idx')?.seesField(field) && !field.custom,
    );
    assert.ok(hidden.some(({ name }) => name === 'PrivateRemarks'));
    assert.deepEqual(differing.toSorted(), hidden.map(({ nativeName }) => nativeName).toSorted());
    for (const name of differing) assert.equal(masked[name], '********');
  });

  it('masks a selected field that the role may not see', async () => {
    assert.deepEqual(await api.fields(`listings/${FIRST}?_select=PrivateRemarks,City`), {
      City: 'Fargo',
      PrivateRemarks: '********',
    });
  });

  it('has custom fields only with _expand=CustomFields, by section, group and current name', async () => {
    assert.equal('CustomFields' in (await all.one(`listings/${SECOND}`)), false);
    const { CustomFields } = await all.one(`listings/${SECOND}?_expand=CustomFields`);
    const custom = (heating: unknown, key: unknown): unknown => [
      {
        Main: [
          { Winter: [{ 'Snow Removal': 'City' }, { 'Generator Switch': null }, { 'Heating Cost': heating }] },
        ],
        Details: [
          {
            'Lake Living': [
              { 'Dock Type': null },
              { 'Lake Association Dues': null },
              { 'Water Uses': ['No Wake'] },
            ],
          },
          { 'Office Use': [{ 'Key Safe': key }, { 'Sign Ordered': key }, { 'Team Notes': key }] },
        ],
      },
    ];
    assert.deepEqual(CustomFields, custom(1234.5, null));
    const masked = await api.one(`listings/${SECOND}?_expand=CustomFields`);
    assert.deepEqual(masked.CustomFields, custom('********', '********'));
    assert.equal('Winter_SnowRemoval' in objectIn(masked.StandardFields), false);
  });

  it('contains its expansions, in a list and together with _select, too', async () => {
    const names = 'Photos,Videos,VirtualTours,Rooms,Units,OpenHouses,Documents';
    const fields = await api.fields(`listings/${FIRST}?_expand=${names}`);
    const counts = (of: typeof fields): unknown =>
      names.split(',').map((name) => (Array.isArray(of[name]) ? of[name].length : of[name]));
    assert.deepEqual(counts(fields), [3, 1, 2, 2, 1, 1, 1]);
    const { rows } = await api.page(`listings?_select=ListingKey, Photos&_expand=Rooms&_limit=2`);
    assert.deepEqual(
      rows.map(({ StandardFields }) => Object.keys(objectIn(StandardFields))),
      [
        ['ListingKey', 'Photos', 'Rooms'],
        ['ListingKey', 'Photos', 'Rooms'],
      ],
    );
    assert.deepEqual(objectIn(rows[1]?.StandardFields), { ListingKey: SECOND, Photos: [], Rooms: [] });
  });

  it('has a custom field that is selected by group and name, masked if the role may not see it', async () => {
    const [snow, cost] = ['"Winter"."Snow Removal"', '"Winter"."Heating Cost"'];
    const { rows } = await api.page(`listings?_select=City, ${cost},${snow}&_skiptoken=${FIRST}&_limit=1`);
    const [row] = rows;
    assert.deepEqual(row?.StandardFields, { City: 'Moorhead' });
    assert.deepEqual(row?.CustomFields, [
      { Main: [{ Winter: [{ 'Snow Removal': 'City' }, { 'Heating Cost': '********' }] }], Details: [] },
    ]);
    const only = await all.one(`listings/${SECOND}?_select="Lake Living"."Water Uses"`);
    assert.deepEqual(only.StandardFields, {});
    assert.deepEqual(only.CustomFields, [
      { Main: [], Details: [{ 'Lake Living': [{ 'Water Uses': ['No Wake'] }] }] },
    ]);
    assert.deepEqual(await api.fault('listings?_select="Winter"."Snow Remova"'), [
      400,
      1040,
      '_select: listings has no field "Winter"."Snow Remova" at position 1. Did you mean "Winter"."Snow Removal"?',
    ]);
  });

  it('returns only the selected members of sub-resources', async () => {
    const select = 'Photos.Uri300,Photos.Caption,Rooms,Videos.Type,PrimaryPhoto';
    const photo = (id: string, Caption: string | null): unknown => ({
      Id: id,
      ResourceUri: `/v1/listings/${FIRST}/photos/${id}`,
      Uri300: id === 'F1' ? null : `https://images.example/${id}.jpg`,
      Caption,
    });
    const fields = await api.fields(`listings/${FIRST}?_select=${select}`);
    const [P1, P2, F1] = Array.isArray(fields.Photos) ? fields.Photos : [];
    assert.deepEqual([P1, P2], [photo('P1', null), photo('P2', 'The kitchen')]);
    assert.deepEqual(Object.keys(F1), ['Id', 'ResourceUri', 'Uri300', 'Caption']);
    assert.deepEqual(Object.keys(fields), ['Photos', 'Rooms', 'Videos']);
    assert.deepEqual(fields.Videos, [
      { Id: 'V1', ResourceUri: `/v1/listings/${FIRST}/videos/V1`, Type: 'branded' },
    ]);
    assert.deepEqual(await api.one(`listings/${FIRST}/photos/P2?_select=Name`), {
      Id: 'P2',
      ResourceUri: `/v1/listings/${FIRST}/photos/P2`,
      Name: 'Kitchen',
    });
    assert.deepEqual((await api.page(`listings/${FIRST}/photos?_select=Uri300,Caption&_limit=2`)).rows, [
      P1,
      P2,
    ]);
    const error = (what: string): unknown => [400, 1040, `_select: ${what}`];
    assert.deepEqual(
      await api.fault('listings?_select=City,Photos.Uri301'),
      error('Photos has no field Uri301 at position 6. Did you mean Uri300?'),
    );
    assert.deepEqual(
      await api.fault(`listings/${FIRST}/rooms?_select=Name`),
      error('rooms has no field Name at position 1.'),
    );
  });

  it('has only the primary photo with PrimaryPhoto, and a null Supplement if none is declared', async () => {
    const primary = await api.fields(
      `listings/${FIRST}?_expand=PrimaryPhoto,Supplement&_select=City&_limit=1`,
    );
    assert.ok(Array.isArray(primary.Photos));
    assert.deepEqual(
      [primary.Photos.map(({ Id, Primary }) => [Id, Primary]), primary.Supplement, Object.keys(primary)],
      [[['P1', true]], null, ['City', 'Photos', 'Supplement']],
    );
  });

  it('returns, filters and orders by alternative names of fields, but only on request', async () => {
    const select =
      'BedsTotal,BathsTotal,MlsId,ListAgentName,UnparsedFirstLineAddress,DisplayCompliance,ListOfficePhoneExt';
    assert.deepEqual(await api.fields(`listings/${SECOND}?_select=${select}`), {
      BedsTotal: 1,
      BathsTotal: null,
      MlsId: SYSTEM,
      ListAgentName: 'Ann Berg',
      ListOfficePhoneExt: null,
      UnparsedFirstLineAddress: '12 Lake Rd',
    });
    assert.deepEqual(
      await all.keys(
        "listings?_filter=BedsTotal Eq 4 And MlsId Eq 'M00000571' And ListAgentName Eq 'J*'&_orderby=-BedsTotal",
      ),
      [KEYS[4]],
    );
    assert.deepEqual(await all.keys("listings?_filter=UnparsedFirstLineAddress Eq '12 Lake Rd'"), [SECOND]);
    assert.deepEqual(await all.keys('listings?_orderby=-UnparsedFirstLineAddress,MlsId&_limit=1'), [SECOND]);
    const whole = await all.fields(`listings/${SECOND}`);
    assert.equal('BedsTotal' in whole || 'MlsId' in whole, false);
  });

  it('has an ETag that If-None-Match answers with 304, and that differs from another listing’s', async () => {
    const { headers } = await api.get(`listings/${FIRST}`);
    assert.match(headers.etag ?? '', /^W\/"[\w-]{22}"$/);
    const again = await api.get(`listings/${FIRST}`, { headers: { 'if-none-match': headers.etag ?? '' } });
    assert.deepEqual([again.status, again.text], [304, '']);
    const other = await api.get(`listings/${SECOND}`, { headers: { 'if-none-match': headers.etag ?? '' } });
    assert.equal(other.status, 200);
  });
});

test('a missing or hidden listing and its sub-resources get the same 404', async () => {
  for (const key of ['none', '4', HIDDEN_KEYS[0], `${FIRST} `, FIRST.slice(0, -1), "'", '%00']) {
    const error = [404, 404, 'There is no such listing record.'];
    assert.deepEqual(await feed.fault(`listings/${key}`), error, key);
    assert.deepEqual(await feed.fault(`listings/${key}/photos`), error, key);
    assert.deepEqual(await feed.fault(`listings/${key}/rooms/R1`), error, key);
    assert.deepEqual(await feed.fault(`listings/${key}/customfields`), error, key);
  }
});

test('a page is the same for the same request, with timestamps in milliseconds or finer', async () => {
  const [one, other] = [await feed.get('listings?_limit=3'), await feed.get('listings?_limit=3')];
  assert.equal(one.text, other.text);
  const { Results } = envelopeOf(one);
  assert.ok(Array.isArray(Results));
  assert.deepEqual(
    Results.map((each) => objectIn(objectIn(each).StandardFields).ModificationTimestamp),
    [MODIFIED.get(FIRST), '2026-06-01T12:30:00.9001Z', MODIFIED.get(THIRD)],
  );
});
