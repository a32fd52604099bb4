import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XMLValidator } from 'fast-xml-parser';
import { feetAndInches } from '../../../packages/demo/src/draw/plan/labels.ts';
import { drawFloorPlan, type ListedRoom, planOf } from '../../../packages/demo/src/draw/plan/sheet.ts';
import { makeMarket } from '../../../packages/demo/src/market.ts';
import { numberOf, textOf } from '../../../packages/demo/src/records.ts';
import { listedRooms, ownFacts } from '../plans.ts';

const market = makeMarket({ seed: 5, listings: 1200 });
const planned = Array.from({ length: 300 }, (_, index) => market.listing(index * 4 + 3));

describe('a floor plan', () => {
  it('is well-formed, and has the name and listed dimensions of every room', () => {
    for (const listing of planned) {
      const rooms = listedRooms(listing);
      const svg = drawFloorPlan(rooms, ownFacts(listing));
      assert.equal(XMLValidator.validate(svg), true);
      for (const { type, length, width } of rooms) {
        assert.ok(svg.includes(`<title>${type}</title>`), `${type} is missing`);
        const sides = `${feetAndInches(length)} x ${feetAndInches(width)}`.replace(
          /['"]/g,
          (quote) => `&#${quote.charCodeAt(0)};`,
        );
        assert.ok(svg.includes(`>${sides}</text>`), `${sides} of ${type} is missing`);
      }
    }
  });

  it('draws rooms with their listed dimensions, with few exceptions', () => {
    let [all, off] = [0, 0];
    for (const listing of planned) {
      const rooms = new Map(listedRooms(listing).map((room) => [room.key, room]));
      for (const { layout } of planOf([...rooms.values()], ownFacts(listing))) {
        for (const { key, width, height } of layout.spaces) {
          const room = rooms.get(key ?? '');
          if (room === undefined) continue;
          all++;
          const apart =
            Math.abs(Math.max(width, height) - room.length) + Math.abs(Math.min(width, height) - room.width);
          if (apart > 1.5) off++;
        }
      }
    }
    assert.ok(off / all < 0.02, `${off} of ${all} rooms are drawn otherwise`);
  });

  it('covers approximately the finished area of the home', () => {
    for (const listing of planned) {
      const floors = planOf(listedRooms(listing), ownFacts(listing));
      const drawn = floors.reduce((sum, { layout }) => sum + layout.width * layout.depth, 0);
      const whole = numberOf(listing, 'LivingArea') ?? numberOf(listing, 'BuildingAreaTotal') ?? 0;
      const ratio = drawn / (whole / (numberOf(listing, 'NumberOfUnitsTotal') ?? 1));
      assert.ok(ratio > 0.9 && ratio < 1.12, `${textOf(listing, 'ListingKey')} draws ${ratio} of its area`);
    }
  });

  it('has a floor for every level, with title, scale and north', () => {
    for (const listing of planned) {
      const rooms = listedRooms(listing);
      const svg = drawFloorPlan(rooms, ownFacts(listing));
      const titles = svg.match(/(Basement|Main level|Second level|Third level), [\d,]+ sq ft</g) ?? [];
      assert.equal(titles.length, new Set(rooms.map(({ level }) => level)).size);
      assert.match(svg, /\d+ ft<\/text>/);
      assert.match(svg, />N<\/text>/);
    }
  });

  it('shows neither address nor price, whatever the listing contains', () => {
    for (const listing of planned) {
      const svg = drawFloorPlan(listedRooms(listing), ownFacts(listing));
      for (const field of ['StreetName', 'City', 'PostalCode', 'ParcelNumber', 'OwnerName']) {
        const value = textOf(listing, field);
        assert.ok(value === undefined || !svg.includes(value), `${field} is shown`);
      }
    }
  });

  it('escapes names so that they cannot break the drawing', () => {
    const rooms: ListedRoom[] = [
      { key: 'a', type: 'Salon <1> & "Bar"', level: 'Main', length: 14, width: 12 },
      { key: 'b', type: 'Kitchen', level: 'Main', length: 12, width: 11 },
    ];
    const svg = drawFloorPlan(rooms, { ListingKey: 'x', ListingId: '<b>' });
    assert.equal(XMLValidator.validate(svg), true);
    assert.ok(svg.includes('Salon &#60;1&#62; &#38; &#34;Bar&#34;'));
  });

  it('writes dimensions as feet and inches', () => {
    assert.deepEqual([12, 12.5, 0.5, 9.99].map(feetAndInches), [`12'`, `12' 6"`, `0' 6"`, `10'`]);
  });
});
