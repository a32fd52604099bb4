import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression } from '../../../src/query/tree.ts';
import { expectExpressions, filter, LOCATION, navigationOf } from './fixture.ts';

test('geography functions use the point of a record', () => {
  const to = { longitude: -122.4, latitude: 37.7 };
  const near: Expression = { kind: 'distance', location: LOCATION, to };
  const corners = [
    { longitude: 0, latitude: 0 },
    { longitude: 1, latitude: 0 },
    { longitude: 1, latitude: 1 },
    { longitude: 0, latitude: 0 },
  ];
  expectExpressions({
    "geo.distance(Coordinates,geography'SRID=4326;POINT(-122.4 37.7)')": near,
    "GEO.Distance(geography'Point(-122.4 37.7)', Coordinates)": near,
    "geo.intersects(Coordinates,geography'SRID=4326;POLYGON((0 0,1 0,1 1,0 0))')": {
      kind: 'within',
      location: LOCATION,
      polygon: corners,
    },
  });
  const office = filter("OpenHouses/any(o:geo.distance(o/Listing/Coordinates,geography'POINT(0 0)') lt 5)");
  assert.ok(office.kind === 'any' && office.predicate?.kind === 'compare');
  assert.deepEqual(office.predicate.left, {
    kind: 'distance',
    location: { ...LOCATION, scope: 1, via: [navigationOf('Listing', 'OpenHouse')] },
    to: { longitude: 0, latitude: 0 },
  });
});
