/** Specification 1 rule 5, 3 and 5 rule 4; contract, Access: the rows that a role sees; a hidden row is like a missing one (I4). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member, office, openHouse, photo, room } from '../../support/builders.ts';
import type { Answer } from '../../support/service.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const STATUSES = [
  'Active',
  'Active Under Contract',
  'Canceled',
  'Closed',
  'Coming Soon',
  'Delete',
  'Expired',
  'Hold',
  'Incomplete',
  'Pending',
  'Withdrawn',
];

const parts = (key: string) => ({
  Media: [photo(`${key}-P`)],
  Rooms: [room(`${key}-R`)],
  OpenHouses: [openHouse(`${key}-H`)],
});

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write(
        'Office',
        office('O1'),
        office('O2', { OfficeStatus: 'Inactive' }),
        office('O3', { OfficeStatus: null }),
      );
      await write(
        'Member',
        member('A1', { OfficeKey: 'O2' }),
        member('A2', { MemberStatus: 'Inactive', MemberPreferredPhone: '555-0002' }),
        member('A3', { MemberStatus: null }),
      );
      await write(
        'Property',
        ...STATUSES.map((status, index) =>
          listing(`S${String(index + 1).padStart(2, '0')}`, {
            StandardStatus: status,
            ListPrice: 1000 + index,
            CloseDate: '2026-01-01',
          }),
        ),
        listing('C1', { StandardStatus: 'Closed', CloseDate: '2023-06-01' }),
        listing('C2', { StandardStatus: 'Closed', CloseDate: '2023-05-31' }),
        listing('C3', { StandardStatus: 'Closed' }),
        listing('D1', { InternetEntireListingDisplayYN: false, ...parts('D1') }),
        listing('D2', {
          InternetEntireListingDisplayYN: true,
          ...parts('D2'),
          ListAgentKey: 'A2',
          ListOfficeKey: 'O2',
        }),
        listing('M1', {
          ListPrice: 77,
          Media: [
            photo('M1-1', { Permission: ['Public'] }),
            photo('M1-2', { Permission: ['IDX'] }),
            photo('M1-3', { Permission: ['IDX', 'VOW'] }),
            photo('M1-4', { Permission: ['VOW'] }),
            photo('M1-5', { Permission: ['Private'] }),
            photo('M1-6'),
          ],
        }),
      );
    },
  },
);
const all = asker(service, 'replication', await service.key('replication'));
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));
const VISIBLE = ['C1', 'D2', 'M1', 'S01', 'S02', 'S04', 'S05', 'S10'];

test('5.4 idx sees listings on the market and those closed within three years, private sees all', async () => {
  assert.deepEqual(await idx.keys('Property'), VISIBLE);
  assert.equal((await all.keys('Property')).length, 17);
});

test('5.4 a listing closed three years ago is hidden from idx when the day changes', async () => {
  const later = await startTestService(
    { after },
    {
      fill: async ({ write }) => {
        await write(
          'Property',
          listing('C1', { StandardStatus: 'Closed', CloseDate: '2023-06-01' }),
          listing('C2', { StandardStatus: 'Closed', CloseDate: '2023-06-02' }),
        );
      },
    },
  );
  const seen = asker(later, 'api', await later.key('api', { role: 'idx' }));
  assert.deepEqual(await seen.page('Property?$count=true').then(({ count }) => count), 2);
  later.clock.set('2026-06-01T23:59:59Z');
  assert.deepEqual(await seen.keys('Property'), ['C1', 'C2']);
  later.clock.set('2026-06-02T00:00:00Z');
  assert.deepEqual(await seen.keys('Property'), ['C2']);
  assert.deepEqual(await seen.page('Property?$count=true').then(({ count }) => count), 1);
  assert.equal((await seen.get("Property('C1')")).status, 404);
});

test('I4 a hidden row affects no result, count, filter, order or page', async () => {
  assert.equal((await idx.get('Property/$count')).text, '8');
  assert.equal((await idx.page('Property?$count=true&$top=1')).count, 8);
  assert.deepEqual(await idx.keys('Property?$filter=ListPrice ge 1000&$orderby=ListPrice desc'), [
    'S10',
    'S05',
    'S04',
    'S02',
    'S01',
  ]);
  assert.equal((await idx.get('Property/$count?$filter=ListPrice ge 1000')).text, '5');
  assert.deepEqual((await idx.walk('Property?$top=2')).flat(), VISIBLE);
  assert.deepEqual(await idx.keys('Property?$skip=3&$top=2'), ['S01', 'S02']);
  assert.deepEqual(await idx.keys("Property?$filter=StandardStatus in ('Withdrawn','Expired')"), []);
  assert.deepEqual(
    await idx.keys('Property?$skiptoken=S02&$top=1'),
    ['S04'],
    'the key of a hidden record works as a token',
  );
  assert.deepEqual(await idx.keys('Property?$skiptoken=S03&$top=1'), ['S04']);
});

test('I4 a child is visible only if its parent is', async () => {
  assert.deepEqual(await all.keys('Room'), ['D1-R', 'D2-R']);
  assert.deepEqual(await idx.keys('Room'), ['D2-R']);
  assert.deepEqual(await idx.keys('OpenHouse'), ['D2-H']);
  assert.equal((await idx.get('OpenHouse/$count')).text, '1');
  assert.deepEqual(await idx.keys("Media?$filter=ResourceRecordKey eq 'D1'"), []);
  assert.deepEqual(await idx.keys("Property?$filter=Rooms/any(r: r/RoomKey eq 'D1-R')"), []);
});

test('media are visible only if their Permission is empty, or contains Public or the role', async () => {
  const visible = ['M1-1', 'M1-2', 'M1-3', 'M1-6'];
  assert.deepEqual(await idx.keys('Property/M1/Media'), visible);
  assert.deepEqual(await idx.keys("Media?$filter=startswith(MediaKey,'M1')"), visible);
  assert.equal((await idx.get('Property/M1/Media/$count')).text, '4');
  const { rows } = await idx.page(
    `Property?$filter=ListPrice eq 77&$select=ListingKey&$expand=Media($select=MediaKey;$count=true)`,
  );
  assert.deepEqual(rows, [
    { ListingKey: 'M1', 'Media@odata.count': 4, Media: visible.map((key) => ({ MediaKey: key })) },
  ]);
  assert.deepEqual(await idx.keys('Property?$filter=Media/$count eq 4'), ['M1']);
  assert.deepEqual(await idx.keys("Property?$filter=Media/any(m: m/MediaKey eq 'M1-5')"), []);
  assert.deepEqual(await all.keys("Property?$filter=Media/any(m: m/MediaKey eq 'M1-5')"), ['M1']);
});

test('idx sees Members and Offices with status null or Active; the agent fields of listings are filled regardless', async () => {
  assert.deepEqual(await idx.keys('Member'), ['A1', 'A3']);
  assert.deepEqual(await idx.keys('Office'), ['O1', 'O3']);
  const listed = await idx.record("Property('D2')?$expand=ListAgent,ListOffice");
  assert.deepEqual([listed.ListAgentPreferredPhone, listed.ListOfficeName], ['555-0002', 'Office O2']);
  assert.deepEqual([listed.ListAgent, listed.ListOffice], [null, null]);
  assert.equal((await idx.record("Member('A1')?$expand=Office")).Office, null);
  assert.deepEqual(await idx.keys("Property?$filter=ListAgentPreferredPhone eq '555-0002'"), ['D2']);
  assert.deepEqual(await idx.keys("Property?$filter=ListAgent/MemberPreferredPhone eq '555-0002'"), []);
});

/** Headers that differ between any two responses. */
const VARYING = ['date', 'x-request-id', 'server-timing', 'ratelimit'];

function lasting({ status, headers, text }: Answer): unknown[] {
  const kept = Object.entries(headers).filter(([name]) => !VARYING.includes(name));
  return [status, Object.fromEntries(kept), text];
}

test('I4 a hidden record gets the response of a missing one: status, headers and body, byte for byte', async () => {
  const pairs: readonly (readonly [string, string])[] = [
    ["Property('D1')", "Property('D9')"],
    ['Property/D1', 'Property/D9'],
    ["Property('D1')?$select=ListingKey&$expand=Media", "Property('D9')?$select=ListingKey&$expand=Media"],
    ["Property('D1')/Media", "Property('D9')/Media"],
    ["Property('D1')/Media/$count", "Property('D9')/Media/$count"],
    ["Property('D1')/Media('D1-P')", "Property('D9')/Media('D1-P')"],
    ["Property('D2')/Media('D1-P')", "Property('D2')/Media('D9-P')"],
    ["Property('D1')/City", "Property('D9')/City"],
    ["Property('D1')/City/$value", "Property('D9')/City/$value"],
    ["Property('D1')/AccessibilityFeatures/$count", "Property('D9')/AccessibilityFeatures/$count"],
    ["Property('D1')/ListAgent", "Property('D9')/ListAgent"],
    ["Property('D1')/ListAgent/Office", "Property('D9')/ListAgent/Office"],
    ["Media('D1-P')", "Media('D9-P')"],
    ["Media('M1-5')", "Media('M1-9')"],
    ["Room('D1-R')", "Room('D9-R')"],
    ["Room('D1-R')/Listing", "Room('D9-R')/Listing"],
    ["Member('A2')", "Member('A9')"],
    ["Member('A2')/Office", "Member('A9')/Office"],
    ["Office('O2')", "Office('O9')"],
    ["Property('D2')/ListAgent", "Property('D2')/BuyerAgent"],
    ["Member('A1')/Office", "Member('A3')/Office"],
  ];
  for (const [hidden, missing] of pairs) {
    const answers = [await idx.get(hidden), await idx.get(missing)].map(lasting);
    assert.deepEqual(answers[0], answers[1], hidden);
    const tagged = { headers: { 'if-none-match': '*' } };
    const again = [await idx.get(hidden, tagged), await idx.get(missing, tagged)].map(lasting);
    assert.deepEqual(again[0], again[1], `${hidden} with If-None-Match`);
  }
  assert.equal((await all.get("Property('D1')")).status, 200, 'the record is visible to other roles');
});

test('3 a listing that becomes inaccessible disappears with its children, and reappears with them', async () => {
  const seen = async () => [
    (await idx.get("Property('D2')")).status,
    (await idx.get("Room('D2-R')")).status,
    (await idx.keys("Media?$filter=ResourceRecordKey eq 'D2'&$top=999")).length,
    (await idx.keys('Property?$select=ListingKey')).includes('D2'),
  ];
  assert.deepEqual(await seen(), [200, 200, 1, true]);
  await service.write('Property', listing('D2', { StandardStatus: 'Withdrawn', ...parts('D2') }));
  assert.deepEqual(await seen(), [404, 404, 0, false]);
  await service.write('Property', listing('D2', { StandardStatus: 'Active', ...parts('D2') }));
  assert.deepEqual(await seen(), [200, 200, 1, true]);
});
