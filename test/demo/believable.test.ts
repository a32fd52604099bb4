import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOWNS } from '../../src/demo/data/places.ts';
import { makeMarket, REFERENCE_DATE } from '../../src/demo/market.ts';
import { childrenOf, type ImportRecord, numberOf, textOf } from '../../src/demo/records.ts';
import type { FieldValues } from '../../src/dictionary/index.ts';

const SIZE = 2000;
const market = makeMarket({ seed: 20260601, listings: SIZE });
const listings = Array.from({ length: SIZE }, (_, serial) => market.listing(serial));
const members = new Map(
  Array.from({ length: market.members }, (_, serial) => market.member(serial)).map((member) => [
    String(member.MemberKey),
    member,
  ]),
);
const offices = new Map(
  Array.from({ length: market.offices }, (_, serial) => market.office(serial)).map((office) => [
    String(office.OfficeKey),
    office,
  ]),
);
const TODAY = REFERENCE_DATE.toISOString().slice(0, 10);

const share = (holds: (listing: ImportRecord) => boolean): number => listings.filter(holds).length / SIZE;
const status = (listing: ImportRecord): string => textOf(listing, 'StandardStatus') ?? '';
const withRooms = (listing: ImportRecord): boolean => textOf(listing, 'PropertyType') !== 'Land';

function between(value: number, low: number, high: number, what: string): void {
  assert.ok(value >= low && value <= high, `${what} is ${value}, not from ${low} to ${high}`);
}

describe('the market as a whole', () => {
  const shares: readonly [string, number, number][] = [
    ['Active', 0.42, 0.48],
    ['Active Under Contract', 0.06, 0.1],
    ['Pending', 0.08, 0.12],
    ['Coming Soon', 0.02, 0.045],
    ['Closed', 0.24, 0.3],
    ['Expired', 0.02, 0.045],
    ['Canceled', 0.007, 0.025],
    ['Withdrawn', 0.007, 0.025],
    ['Hold', 0.004, 0.02],
  ];
  for (const [name, low, high] of shares) {
    it(`has its share of ${name}`, () =>
      between(
        share((listing) => status(listing) === name),
        low,
        high,
        name,
      ));
  }

  it('has old sales that IDX no longer shows', () => {
    const threeYears = '2023-06-01';
    const closed = listings.filter((listing) => status(listing) === 'Closed');
    const old = closed.filter((listing) => (textOf(listing, 'CloseDate') ?? '') < threeYears);
    between(old.length / closed.length, 0.12, 0.3, 'the share of old sales');
  });

  it('has a few listings whose sellers hide them or their address', () => {
    between(
      share((listing) => listing.InternetEntireListingDisplayYN === false),
      0.01,
      0.035,
      'hidden listings',
    );
    between(
      share((listing) => listing.InternetAddressDisplayYN === false),
      0.03,
      0.07,
      'hidden addresses',
    );
  });

  it('has records of the size and with as many fields as a real feed', () => {
    const own = listings.map(({ Media, Rooms, UnitTypes, OpenHouses, ...fields }) => fields);
    const sizes = own.map((fields) => JSON.stringify(fields).length);
    between(sizes.reduce((sum, size) => sum + size, 0) / SIZE, 4400, 5000, 'the mean size');
    const counts = own.map((fields) => Object.keys(fields).length).sort((a, b) => a - b);
    between(counts[SIZE / 2] ?? 0, 120, 150, 'the usual number of fields');
    between(counts[SIZE / 20] ?? 0, 115, 150, 'the number of fields of the sparser ones');
    between(counts[SIZE - SIZE / 20] ?? 0, 120, 155, 'the number of fields of the fuller ones');
  });

  it('uses both originating systems and nearly all neighbourhoods', () => {
    between(
      share((listing) => listing.OriginatingSystemID === 'M00000412'),
      0.45,
      0.75,
      'the larger system',
    );
    const places = new Set(
      listings.map((listing) => textOf(listing, 'SubdivisionName')).filter((name) => name !== undefined),
    );
    const known = TOWNS.flatMap(({ neighborhoods }) => neighborhoods.map(({ name }) => name));
    assert.deepEqual([...places].sort(), known.sort());
  });

  it('has remarks that are told apart', () => {
    const remarks = new Set(listings.map((listing) => textOf(listing, 'PublicRemarks')));
    between(remarks.size, SIZE * 0.99, SIZE, 'the number of different remarks');
  });
});

describe('the people of a listing', () => {
  it('exist, work in the named offices, and belong to the same system', () => {
    for (const listing of listings) {
      for (const [agentField, officeField] of [
        ['ListAgentKey', 'ListOfficeKey'],
        ['CoListAgentKey', 'CoListOfficeKey'],
        ['BuyerAgentKey', 'BuyerOfficeKey'],
        ['CoBuyerAgentKey', 'CoBuyerOfficeKey'],
      ] as const) {
        const key = textOf(listing, agentField);
        if (key === undefined) continue;
        const agent = members.get(key);
        assert.equal(agent?.OfficeKey, listing[officeField]);
        assert.equal(agent?.OriginatingSystemID, listing.OriginatingSystemID);
      }
      assert.ok(members.has(textOf(listing, 'ListAgentKey') ?? ''));
      assert.equal(textOf(listing, 'BuyerAgentKey') !== undefined, status(listing) === 'Closed');
    }
  });

  it('include second agents on both sides', () => {
    between(
      share((listing) => 'CoListAgentKey' in listing),
      0.06,
      0.16,
      'listings with a second agent',
    );
    assert.ok(listings.some((listing) => 'CoBuyerAgentKey' in listing));
  });

  it('have offices with a broker, and names that their offices have', () => {
    for (const member of members.values()) {
      const office = offices.get(String(member.OfficeKey));
      assert.equal(member.OfficeName, office?.OfficeName);
      assert.equal(member.OriginatingSystemID, office?.OriginatingSystemID);
    }
    for (const office of offices.values()) {
      assert.equal(members.get(String(office.OfficeBrokerKey))?.OfficeKey, office.OfficeKey);
      assert.ok(office.MainOfficeKey === undefined || offices.has(String(office.MainOfficeKey)));
    }
  });

  it('can be reached only at numbers and addresses kept free for fiction', () => {
    for (const person of [...members.values(), ...offices.values()]) {
      for (const [field, value] of Object.entries(person)) {
        if (/(Phone|Fax)$/.test(field)) assert.match(String(value), /^\d{3}-555-01\d\d$/);
        if (/Email$/.test(field)) assert.match(String(value), /^[a-z.]+@[a-z0-9]+\.example$/);
      }
    }
  });
});

describe('the dates and prices of a listing', () => {
  it('follow one another and fit the status', () => {
    for (const listing of listings) {
      const day = (field: string): string => textOf(listing, field) ?? '';
      const state = status(listing);
      assert.ok(day('ListingContractDate') <= day('OnMarketDate'));
      assert.ok(day('OriginalEntryTimestamp') < REFERENCE_DATE.toISOString());
      assert.equal(day('OnMarketDate') > TODAY, state === 'Coming Soon');
      if ('PurchaseContractDate' in listing) assert.ok(day('OnMarketDate') <= day('PurchaseContractDate'));
      assert.equal('CloseDate' in listing, state === 'Closed');
      assert.equal('ClosePrice' in listing, state === 'Closed');
      if (state === 'Closed') {
        assert.ok(day('PurchaseContractDate') < day('CloseDate') && day('CloseDate') <= TODAY);
      }
      assert.equal('PendingTimestamp' in listing, state === 'Closed' || state === 'Pending');
      assert.equal('ContingentDate' in listing, state === 'Active Under Contract');
      assert.equal('WithdrawnDate' in listing, state === 'Withdrawn');
      assert.equal('CancellationDate' in listing, state === 'Canceled');
      const live = ['Active', 'Active Under Contract', 'Pending', 'Coming Soon', 'Hold'].includes(state);
      if (live) assert.ok(day('ExpirationDate') > TODAY);
      if (state === 'Expired') assert.ok(day('ExpirationDate') < TODAY);
      assert.ok(
        (numberOf(listing, 'DaysOnMarket') ?? -1) <= (numberOf(listing, 'CumulativeDaysOnMarket') ?? -1),
      );
      assert.equal(day('ListingKey').slice(0, 14), day('OriginalEntryTimestamp').replace(/\D/g, ''));
    }
  });

  it('are prices that people ask and pay', () => {
    for (const listing of listings) {
      const price = numberOf(listing, 'ListPrice') ?? 0;
      const lease = textOf(listing, 'PropertyType') === 'Residential Lease';
      between(
        price,
        lease ? 500 : 20_000,
        lease ? 8000 : 4_000_000,
        `the price of ${textOf(listing, 'ListingKey')}`,
      );
      assert.equal(price % (lease ? 25 : 100), 0);
      if ('PreviousListPrice' in listing) assert.ok((numberOf(listing, 'PreviousListPrice') ?? 0) >= price);
      else assert.equal(listing.OriginalListPrice, price);
      const paid = numberOf(listing, 'ClosePrice');
      if (paid !== undefined) between(paid / price, 0.9, 1.1, 'what was paid of the price');
    }
  });
});

describe('the place of a listing', () => {
  it('is one of the invented towns in every field', () => {
    const towns = new Map(TOWNS.map((town) => [town.name, town]));
    for (const listing of listings) {
      const town = towns.get(textOf(listing, 'City') ?? '');
      const neighborhood = town?.neighborhoods.find(
        ({ name, postalCode }) =>
          postalCode === listing.PostalCode &&
          (listing.SubdivisionName === undefined || name === listing.SubdivisionName),
      );
      assert.ok(town !== undefined && neighborhood !== undefined, String(listing.UnparsedAddress));
      assert.equal(listing.CountyOrParish, town.county);
      assert.equal(listing.HighSchoolDistrict, town.district);
      assert.ok(town.elementary.includes(textOf(listing, 'ElementarySchool') ?? ''));
      assert.ok(String(listing.UnparsedAddress).endsWith(`, ${town.name}, MI ${neighborhood.postalCode}`));
      if (listing.SubdivisionName !== undefined) {
        between((numberOf(listing, 'Latitude') ?? 0) - neighborhood.latitude, -0.02, 0.02, 'the latitude');
        between((numberOf(listing, 'Longitude') ?? 0) - neighborhood.longitude, -0.02, 0.02, 'the longitude');
      }
    }
  });
});

describe('the parts of a listing', () => {
  const count = (listing: ImportRecord, category: string): number =>
    childrenOf(listing, 'Media').filter(({ MediaCategory }) => MediaCategory === category).length;

  it('are 6 to 14 photos in order, the first one preferred, and as many as it says', () => {
    for (const listing of listings) {
      const photos = childrenOf(listing, 'Media').filter(({ MediaCategory }) => MediaCategory === 'Photo');
      between(photos.length, 6, 14, 'the number of photos');
      assert.equal(listing.PhotosCount, photos.length);
      assert.deepEqual(
        photos.map(({ Order }) => Order),
        photos.map((_, index) => index),
      );
      assert.deepEqual(
        photos.map(({ PreferredPhotoYN }) => PreferredPhotoYN),
        photos.map((_, index) => index === 0),
      );
      assert.equal(listing.VideosCount, count(listing, 'Video'));
      assert.equal(listing.DocumentsCount, count(listing, 'Document'));
    }
  });

  it('are a floor plan on every fourth listing, keyed as the floor plan interface has it', () => {
    for (const [serial, listing] of listings.entries()) {
      const plans = childrenOf(listing, 'Media').filter(
        ({ MediaCategory }) => MediaCategory === 'Floor Plan',
      );
      assert.equal(plans.length, serial % 4 === 3 ? 1 : 0);
      for (const plan of plans) {
        assert.equal(
          plan.MediaKey,
          `${plan.FloplanKey}.${listing.OriginatingSystemID}.${listing.ListingKey}`,
        );
        assert.equal(plan.MediaURL, `plan/${plan.MediaKey}.svg`);
        assert.deepEqual(plan.FloplanImageType, ['all_in_one_svg']);
        assert.equal(plan.MediaType, 'svg');
      }
    }
  });

  it('are tours of both kinds, videos and documents on some, none with an address elsewhere', () => {
    for (const category of ['Branded Virtual Tour', 'Unbranded Virtual Tour', 'Video', 'Document']) {
      between(
        share((listing) => count(listing, category) > 0),
        0.1,
        0.5,
        category,
      );
    }
    const urls = listings.flatMap((listing) =>
      childrenOf(listing, 'Media').map(({ MediaURL }) => String(MediaURL)),
    );
    assert.deepEqual(
      urls.filter((url) => !/^(photo|plan|tour|video|document)\/[\w.-]+\.(svg|pdf)$/.test(url)),
      [],
    );
  });

  it('are media of which a few are not for everyone', () => {
    const permissions = new Set(
      listings.flatMap((listing) => childrenOf(listing, 'Media').map(({ Permission }) => String(Permission))),
    );
    assert.deepEqual([...permissions].sort(), ['Agent Only', 'IDX', 'Private', 'Public', 'undefined']);
  });

  it('are 5 to 11 rooms with the bedrooms that it says, and none on bare land', () => {
    for (const listing of listings) {
      const rooms = childrenOf(listing, 'Rooms');
      if (!withRooms(listing)) {
        assert.equal(rooms.length, 0);
        continue;
      }
      between(rooms.length, 5, 11, `the rooms of ${textOf(listing, 'ListingKey')}`);
      const units = numberOf(listing, 'NumberOfUnitsTotal') ?? 1;
      const beds = rooms.filter(({ RoomType }) => /^(Master Bedroom|Bedroom)/.test(String(RoomType))).length;
      if (listing.BedroomsTotal !== undefined) assert.equal(beds * units, listing.BedroomsTotal);
      for (const room of rooms) assert.equal(room.ListingKey, listing.ListingKey);
    }
  });

  it('are unit types that add up, where a building is let by the unit', () => {
    const sum = (units: readonly FieldValues[], field: string): number =>
      units.reduce((total, unit) => total + Number(unit[field]), 0);
    for (const listing of listings) {
      const units = childrenOf(listing, 'UnitTypes');
      assert.equal(units.length > 0, textOf(listing, 'PropertyType') === 'Residential Income');
      if (units.length === 0) continue;
      assert.equal(sum(units, 'UnitTypeUnitsTotal'), listing.NumberOfUnitsTotal);
      assert.equal(sum(units, 'UnitTypeTotalRent') * 12, listing.GrossIncome);
    }
  });

  it('are coming open houses of some active listings', () => {
    const open = listings.filter((listing) => childrenOf(listing, 'OpenHouses').length > 0);
    between(open.length / SIZE, 0.05, 0.2, 'the share with open houses');
    for (const listing of open) {
      assert.equal(status(listing), 'Active');
      for (const house of childrenOf(listing, 'OpenHouses')) {
        assert.ok(String(house.OpenHouseDate) > TODAY);
        assert.ok(String(house.OpenHouseStartTime) < String(house.OpenHouseEndTime));
        assert.ok(String(house.OpenHouseStartTime).startsWith(String(house.OpenHouseDate)));
      }
    }
  });
});
