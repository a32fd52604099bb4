import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOWNS } from '../../packages/demo/src/data/places.ts';
import { REFERENCE_DATE } from '../../packages/demo/src/market.ts';
import { numberOf, textOf } from '../../packages/demo/src/records.ts';
import { between, listings, members, offices, SIZE, share, status, TODAY } from './sample.ts';

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

  it('uses both originating systems and nearly all neighborhoods', () => {
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

  it('has remarks that differ', () => {
    const remarks = new Set(listings.map((listing) => textOf(listing, 'PublicRemarks')));
    between(remarks.size, SIZE * 0.99, SIZE, 'the number of different remarks');
  });
});

describe('the agents and offices of a listing', () => {
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

  it('have offices with a broker, and the names of their offices', () => {
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

  it('have only phone numbers and addresses that are reserved for fiction', () => {
    for (const person of [...members.values(), ...offices.values()]) {
      for (const [field, value] of Object.entries(person)) {
        if (/(Phone|Fax)$/.test(field)) assert.match(String(value), /^\d{3}-555-01\d\d$/);
        if (/Email$/.test(field)) assert.match(String(value), /^[a-z.]+@[a-z0-9]+\.example$/);
      }
    }
  });
});

describe('the dates and prices of a listing', () => {
  it('are in order and fit the status', () => {
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

  it('have realistic prices', () => {
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
