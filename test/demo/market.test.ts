import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { makeMarket, marketRecords, REFERENCE_DATE } from '../../packages/demo/src/market.ts';
import { childrenOf } from '../../packages/demo/src/records.ts';
import { faultsOf } from './check-record.ts';

const OPTIONS = { seed: 42, listings: 600 } as const;
const records = [...marketRecords(OPTIONS)];

function digest(options: { seed: number; listings: number; now?: Date }): string {
  const hash = createHash('sha256');
  for (const line of marketRecords(options)) hash.update(`${JSON.stringify(line)}\n`);
  return hash.digest('hex');
}

describe('a market', () => {
  it('is identical in every byte for the same seed, size and date', () => {
    assert.equal(digest({ seed: 1, listings: 120 }), digest({ seed: 1, listings: 120, now: REFERENCE_DATE }));
  });

  it('differs for another seed and another date', () => {
    const all = [
      digest({ seed: 1, listings: 20 }),
      digest({ seed: 2, listings: 20 }),
      digest({ seed: 1, listings: 20, now: new Date('2027-01-01T00:00:00Z') }),
    ];
    assert.equal(new Set(all).size, 3);
  });

  it('generates each record independently of the others', () => {
    const market = makeMarket(OPTIONS);
    const listings = records.filter(({ resource }) => resource === 'Property').map(({ record }) => record);
    const order = market.serialsByKey();
    assert.deepEqual(
      [...order].sort((left, right) => left - right),
      [...listings.keys()],
    );
    for (const place of [599, 0, 311, 17, 3]) {
      assert.deepEqual(market.listing(order[place] ?? -1), listings[place]);
    }
    const keys = listings.map((listing) => String(listing.ListingKey));
    assert.deepEqual(keys, keys.toSorted());
    const members = records.filter(({ resource }) => resource === 'Member').map(({ record }) => record);
    for (const serial of [members.length - 1, 0, 31])
      assert.deepEqual(market.member(serial), members[serial]);
  });

  it('generates systems, offices, agents and listings in this order, as many as its size requires', () => {
    const order = records
      .map(({ resource }) => resource)
      .filter((resource, index, all) => resource !== all[index - 1]);
    assert.deepEqual(order, ['OUID', 'Office', 'Member', 'Property']);
    const { offices, members } = makeMarket({ seed: 1, listings: 2000 });
    assert.deepEqual({ offices, members }, { offices: 60, members: 300 });
    const small = makeMarket({ seed: 1, listings: 5 });
    assert.deepEqual([small.offices, small.members, small.listings], [6, 15, 5]);
  });

  it('contains only what the dictionary allows', () => {
    const faults = records.flatMap(({ resource, record }) => faultsOf(resource, record));
    assert.deepEqual([...new Set(faults)].slice(0, 5), []);
  });

  it('is checked by a function that finds wrong records', () => {
    const wrong = {
      RoomKey: 'R',
      ListingKey: 'L',
      RoomType: 'Attic Den',
      RoomLength: 12.345,
      RoomFeatures: [],
      RoomLevl: 'Main',
    };
    assert.deepEqual(faultsOf('PropertyRooms', wrong), [
      'PropertyRooms.RoomType "Attic Den" is not in RoomType',
      'PropertyRooms.RoomLength 12.345 has more than 2 decimals',
      'PropertyRooms.RoomFeatures [] is no filled list',
      'PropertyRooms has no field RoomLevl',
    ]);
    assert.deepEqual(
      faultsOf('Property', { ListingKey: 'L', ListAgentEmail: 'a@b.example', OpenHouses: [{}] }),
      [
        'Property.ListAgentEmail "a@b.example" is read from Member and must not be given',
        'OpenHouse has no OpenHouseKey',
      ],
    );
  });

  it('has no key twice within a resource', () => {
    const keys = {
      OUID: 'OrganizationUniqueIdKey',
      Office: 'OfficeKey',
      Member: 'MemberKey',
      Property: 'ListingKey',
    } as const;
    const seen = new Set(
      records.map(({ resource, record }) => `${resource} ${String(record[keys[resource]])}`),
    );
    assert.equal(seen.size, records.length);
    const children = (['Media', 'Rooms', 'UnitTypes', 'OpenHouses'] as const).map((collection) => {
      const key = {
        Media: 'MediaKey',
        Rooms: 'RoomKey',
        UnitTypes: 'UnitTypeKey',
        OpenHouses: 'OpenHouseKey',
      }[collection];
      return records.flatMap(({ record }) =>
        childrenOf(record, collection).map((child) => String(child[key])),
      );
    });
    for (const list of children) {
      assert.ok(list.length > 0);
      assert.equal(new Set(list).size, list.length);
    }
  });

  it('finds an agent by its key only', () => {
    const market = makeMarket(OPTIONS);
    const member = market.member(33);
    assert.deepEqual(market.memberOf(String(member.MemberKey)), member);
    assert.equal(market.memberOf(String(market.office(3).OfficeKey)), undefined);
    assert.equal(market.memberOf(String(member.MemberKey).replace(/^./, '9')), undefined);
    assert.equal(
      market.memberOf(String(makeMarket({ seed: 42, listings: 6000 }).member(800).MemberKey)),
      undefined,
    );
  });
});
