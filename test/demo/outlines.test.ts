/** The outlines of the invented towns contain every listing of the town, in any market. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOWNS } from '../../packages/demo/src/data/places.ts';
import { spreadOf } from '../../packages/demo/src/listing/place-fields.ts';
import { makeMarket } from '../../packages/demo/src/market.ts';
import { marketOutlines } from '../../packages/demo/src/outlines.ts';
import type { ImportRecord } from '../../packages/demo/src/records.ts';
import { outlinesIn } from '../../src/service/console/outlines.ts';
import { listings } from './sample.ts';

const { features } = marketOutlines();

/** The towns whose outline contains a point: a ray to the east crosses the border an odd number of times. */
const townsAt = (longitude: number, latitude: number): string[] =>
  features
    .filter(({ geometry: { coordinates } }) => {
      const ring = coordinates[0] ?? [];
      const crossed = ring.slice(1).filter(([x, y], at) => {
        const [fromX, fromY] = ring[at] ?? [0, 0];
        if (y > latitude === fromY > latitude) return false;
        return longitude < fromX + ((latitude - fromY) / (y - fromY)) * (x - fromX);
      });
      return crossed.length % 2 === 1;
    })
    .map(({ properties: { name } }) => name);

/** The listings that are not inside the outline of their city, or also inside another one. */
const astray = (records: readonly ImportRecord[]): unknown[] =>
  records
    .map(({ City, Longitude, Latitude }) => ({
      City,
      towns: townsAt(Number(Longitude), Number(Latitude)),
    }))
    .filter(({ City, towns }) => towns.length !== 1 || towns[0] !== City);

describe('the outlines of a market', () => {
  it('are GeoJSON with one closed outline for each town', () => {
    assert.deepEqual(outlinesIn(JSON.parse(JSON.stringify(marketOutlines()))), marketOutlines());
    const names = features.map(({ properties: { name } }) => name);
    assert.deepEqual(
      names,
      TOWNS.map(({ name }) => name),
    );
  });

  it('contain every listing of their city, for any seed, and later listings', () => {
    assert.deepEqual(astray(listings), []);
    for (const seed of [1, 7, 2 ** 31 - 1]) {
      const market = makeMarket({ seed, listings: 200 });
      const made = Array.from({ length: market.listings }, (_, serial) => market.listing(serial));
      assert.deepEqual(astray([...made, market.freshListing(200, market.now)]), []);
    }
  });

  it('contain the whole area in which a neighborhood can have listings', () => {
    for (const { name, neighborhoods } of TOWNS) {
      for (const { name: neighborhood, setting, longitude, latitude } of neighborhoods) {
        const spread = spreadOf(setting);
        for (const x of [longitude - spread / 4, longitude + (3 * spread) / 4]) {
          for (const y of [latitude - spread, latitude + spread]) {
            assert.deepEqual(townsAt(x, y), [name], neighborhood);
          }
        }
      }
    }
  });
});
