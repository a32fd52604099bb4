import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { childrenOf, type ImportRecord, numberOf, textOf } from '../../packages/demo/src/records.ts';
import type { FieldValues } from '../../src/dictionary/index.ts';
import { between, listings, SIZE, share, status, TODAY } from './sample.ts';

describe('the sub-resources of a listing', () => {
  const count = (listing: ImportRecord, category: string): number =>
    childrenOf(listing, 'Media').filter(({ MediaCategory }) => MediaCategory === category).length;

  it('include 6 to 14 photos in order, the first one preferred, and as many as PhotosCount says', () => {
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

  it('include a floor plan for every fourth listing, with the keys of the floor plan interface', () => {
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

  it('include tours of both kinds, videos and documents for some, none with an external URL', () => {
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
      urls.filter(
        (url) =>
          !/^(photo\/[\w-]+\.(jpg|webp)|(plan|tour|video)\/[\w.-]+\.svg|document\/[\w-]+\.pdf)$/.test(url),
      ),
      [],
    );
  });

  it('include a few media that are not public', () => {
    const permissions = new Set(
      listings.flatMap((listing) => childrenOf(listing, 'Media').map(({ Permission }) => String(Permission))),
    );
    assert.deepEqual([...permissions].sort(), ['Agent Only', 'IDX', 'Private', 'Public', 'undefined']);
  });

  it('include 5 to 11 rooms with the listed number of bedrooms, and none for land', () => {
    for (const listing of listings) {
      const rooms = childrenOf(listing, 'Rooms');
      if (textOf(listing, 'PropertyType') === 'Land') {
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

  it('include unit types that add up, for a building with rental units', () => {
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

  it('include coming open houses of some active listings', () => {
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
