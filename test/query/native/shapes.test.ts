import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Expression, Point } from '../../../src/query/tree.ts';
import { and, boolean, bound, compare, decimal, errorOf, location, not, or } from './fixture.ts';

const point = (latitude: number, longitude: number): Point => ({ longitude, latitude });
const within = (...polygon: Point[]): Expression => ({ kind: 'within', location, polygon });
const outside = (expression: Expression): Expression => compare('ne', expression, boolean(true));

const triangle = within(point(35, -68), point(35, -67), point(36, -67), point(35, -68));
const square = within(point(1, 1), point(1, 2), point(2, 2), point(2, 1), point(1, 1));
const near: Expression = compare(
  'le',
  { kind: 'distance', location, to: point(35.12, -68.33) },
  decimal(1609.344 * 1.5),
);
const TRIANGLE = '(-68 35,-67 35,-67 36,-68 35)';
const SQUARE = '(1 1,2 1,2 2,1 2,1 1)';

describe('shapes', () => {
  const cases: readonly (readonly [string, Expression])[] = [
    ["Location Eq radius('35.12 -68.33',1.5)", near],
    ["Location Ne radius('35.12 -68.33',1.5)", not(near)],
    ["Location Eq polygon('35 -68, 35 -67, 36 -67')", triangle],
    ["Location Ne polygon('35 -68, 35 -67, 36 -67')", outside(triangle)],
    ["Location Eq rectangle('1 1, 2 2')", square],
    ["Location Eq rectangle('1 1, 2 2'),radius('35.12 -68.33',1.5)", or(square, near)],
    ["Location Ne rectangle('1 1, 2 2'),radius('35.12 -68.33',1.5)", outside(or(square, near))],
    [`Location Eq wkt('POLYGON(${TRIANGLE})')`, triangle],
    [`Location Eq wkt('SRID=4326;POLYGON(${TRIANGLE},${SQUARE})')`, and(triangle, outside(square))],
    [`Location Eq wkt('MULTIPOLYGON((${TRIANGLE}),(${SQUARE}))')`, or(triangle, square)],
  ];
  for (const [filter, expected] of cases) {
    it(filter, () => assert.deepEqual(bound(filter), expected));
  }

  const place = { latitude: location.latitude, longitude: location.longitude };
  const around: Expression = compare(
    'le',
    { kind: 'distance', location, to: { key: '20260101000000000000000001', ...place } },
    decimal(1609.344 * 2),
  );
  const there = within(point(2, 1));
  const way = within(point(1, 2), point(3, 4), point(5, 6), point(3, 4), point(1, 2));
  const further: readonly (readonly [string, Expression])[] = [
    ["Location Eq radius('20260101000000000000000001',2)", around],
    ["Location Ne radius('20260101000000000000000001',2)", not(around)],
    ["Location Eq wkt('POINT(1 2)')", there],
    ["Location Eq wkt('SRID=4326;MULTIPOINT(1 2, (2 1))')", or(there, within(point(1, 2)))],
    ["Location Eq linestring('1 2, 3 4, 5 6')", way],
    ["Location Ne wkt('LINESTRING(2 1, 4 3, 6 5)')", outside(way)],
    [
      "Location Eq wkt('MULTILINESTRING((2 1, 4 3, 6 5),(1 2, 1 2))')",
      or(way, within(point(2, 1), point(2, 1), point(2, 1))),
    ],
  ];
  for (const [filter, expected] of further) {
    it(filter, () => assert.deepEqual(bound(filter), expected));
  }

  const missing: readonly (readonly [string, string])[] = [
    ["Location Eq radius('SRID=3857;POINT(1 2)',1)", 'the coordinate system 3857'],
    ["Location Eq wkt('SRID=3857;POINT(1 2)')", 'the coordinate system 3857'],
    [`Location Eq wkt('SRID=3857;POLYGON(${SQUARE})')`, 'the coordinate system 3857'],
  ];
  for (const [filter, what] of missing) {
    it(`does not support ${what}`, () => {
      const error = errorOf(filter);
      assert.equal(error.status, 501);
      assert.equal(error.message, `_filter: ${what} at position 13 is not provided by this service.`);
    });
  }

  it('rejects points outside the valid range', () => {
    const where = 'latitude goes from -90 to 90, longitude from -180 to 180, and';
    assert.equal(
      errorOf("Location Eq radius('-118 34',1)").message,
      `_filter: latitude -118, longitude 34 is not a point on earth; ${where} radius() expects the latitude first at position 13.`,
    );
    assert.equal(
      errorOf("Location Eq radius('POINT(46.8 -96.8)',1)").message,
      `_filter: latitude -96.8, longitude 46.8 is not a point on earth; ${where} radius() expects the longitude first at position 13.`,
    );
    assert.equal(
      errorOf("Location Eq wkt('POLYGON((1 2,3 200,5 6,1 2))')").message,
      `_filter: latitude 200, longitude 3 is not a point on earth; ${where} wkt() expects the longitude first at position 13.`,
    );
  });

  it('compares a location with shapes only', () => {
    assert.equal(
      errorOf("Location Eq 'Fargo'").message,
      "_filter: Location is compared with a shape such as radius('latitude longitude',miles), not with a text at position 13.",
    );
  });
});
