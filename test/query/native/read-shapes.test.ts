import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFilter } from '../../../src/query/native/parser.ts';
import { messages } from './show.ts';

describe('shapes', () => {
  const geometryOf = (text: string) => {
    const { filter, faults } = parseFilter(`Location Eq ${text}`);
    assert.deepEqual(faults, []);
    assert.ok(filter?.kind === 'condition' && filter.right.kind === 'values');
    const [value] = filter.right.values;
    assert.equal(value?.kind, 'shape');
    return value.geometry;
  };
  const point = (latitude: number, longitude: number) => ({ longitude, latitude });
  const square = [point(35, -68), point(35, -67), point(36, -67), point(36, -68), point(35, -68)];

  it('reads a radius around a point or a listing', () => {
    assert.deepEqual(geometryOf("radius(' 35.5  -68 ',2)"), {
      kind: 'circle',
      center: point(35.5, -68),
      miles: 2,
    });
    for (const record of ['20260101000000000000000001', '20240531-1', '20240531', 'AOR.7']) {
      assert.deepEqual(geometryOf(`radius('${record}',0.5)`), { kind: 'circle-around', record, miles: 0.5 });
    }
  });

  it('closes polygons and converts rectangles to them', () => {
    const areas = [[square]];
    assert.deepEqual(geometryOf("polygon('35 -68, 35 -67, 36 -67, 36 -68')"), { kind: 'areas', areas });
    assert.deepEqual(geometryOf("polygon('35 -68,35 -67,36 -67,36 -68,35 -68')"), { kind: 'areas', areas });
    assert.deepEqual(geometryOf("rectangle('35 -68, 36 -67')"), { kind: 'areas', areas });
  });

  it('reads well-known text, in which the longitude comes first', () => {
    const ring = '(-68 35,-67 35,-67 36,-68 36,-68 35)';
    assert.deepEqual(geometryOf(`wkt('POLYGON(${ring})')`), { kind: 'areas', areas: [[square]] });
    assert.deepEqual(geometryOf(`wkt('SRID=4326;polygon (${ring},${ring})')`), {
      kind: 'areas',
      areas: [[square, square]],
      srid: 4326,
    });
    assert.deepEqual(geometryOf(`wkt('MULTIPOLYGON((${ring}),(${ring}))')`), {
      kind: 'areas',
      areas: [[square], [square]],
    });
  });

  const line = [point(35, -68), point(36, -67)];
  const others = [
    ["radius('POINT(-68 35)',1.5)", { kind: 'around', lines: [[point(35, -68)]], miles: 1.5 }],
    ["radius(' point  ( -68   35 ) ',2)", { kind: 'around', lines: [[point(35, -68)]], miles: 2 }],
    [
      "radius('SRID=1;MultiPoint(-68 35,(-67 36))',2)",
      { kind: 'around', lines: [[point(35, -68)], [point(36, -67)]], miles: 2, srid: 1 },
    ],
    ["radius('LINESTRING(-68 35,-67 36)',2)", { kind: 'around', lines: [line], miles: 2 }],
    ["linestring('35 -68, 36 -67')", { kind: 'lines', lines: [line] }],
    ["wkt('POINT(-68 35)')", { kind: 'points', points: [point(35, -68)] }],
    ["wkt('POINT (-68 35 12.5)')", { kind: 'points', points: [point(35, -68)] }],
    ["wkt('SRID=1;LINESTRING(-68 35,-67 36)')", { kind: 'lines', lines: [line], srid: 1 }],
    ["wkt('MULTIPOINT((-68 35),(-67 36))')", { kind: 'points', points: line }],
    ["wkt('MULTIPOINT(-68 35,-67 36)')", { kind: 'points', points: line }],
    ["wkt('MULTILINESTRING((-68 35,-67 36),(-68 35,-67 36))')", { kind: 'lines', lines: [line, line] }],
  ] as const;
  for (const [text, expected] of others) {
    it(`reads ${text}`, () => assert.deepEqual(geometryOf(text), expected));
  }

  const AROUND =
    'radius() takes one point "latitude longitude", a ListingKey, or a point or line of well-known text, such as POINT(lon lat)';
  const SPACED = `${AROUND}, with a space between the two numbers and commas between points`;
  const wrong = [
    ...['POINT(-68,35)', 'POINT(-68)', 'point()', 'POINT(-68 35', 'CIRCLE(1 2)', 'LINESTRING(1 2)'].map(
      (text) => [`radius('${text}',1)`, SPACED] as const,
    ),
    ["radius('POINT(1 2)',-1)", 'radius() takes a length above zero'],
    [`radius('MULTIPOINT(${Array(101).fill('1 2').join()})',1)`, 'radius() takes at most 100 points'],
    [
      "radius('POLYGON((1 2,3 4,5 6,1 2))',1)",
      'radius() goes around points and lines of well-known text; wkt() takes polygons',
    ],
    ["radius('35.12,-68.33',1.0)", AROUND],
    ["radius('35 -68, 36 -67',1)", AROUND],
    ["radius('-68.33',1)", AROUND],
    ["radius('',1)", AROUND],
    ["radius('35 -68',0)", 'radius() takes a length above zero'],
    ["polygon('35 -68, 35 -67')", 'polygon() takes at least three points "latitude longitude"'],
    ["polygon('35 -68, 35 -67, x y')", 'polygon() takes at least three points "latitude longitude"'],
    [
      "rectangle('35 -68, 36 -67, 37 -66')",
      'rectangle() takes two opposite corners "latitude longitude, latitude longitude"',
    ],
    ["linestring('35 -68')", 'linestring() takes at least two points "latitude longitude"'],
    ...[
      'POLYGON((1 2,3 4,1 2))',
      'POLYGON((1 2,3 4,5 6,7 8))',
      'POLYGON((1 2,3 4,5 6,1 2)',
      'CIRCLE(1 2)',
      'POINT(1 2) x',
      'POLYGON',
      'POINT(1 2,3 4)',
      'LINESTRING(1 2)',
      'MULTILINESTRING((1 2,3 4),(1 2))',
    ].map(
      (text) =>
        [
          `wkt('${text}')`,
          'wkt() takes well-known text, such as POLYGON((lon lat, lon lat, lon lat, lon lat))',
        ] as const,
    ),
  ] as const;
  for (const [text, reason] of wrong) {
    it(`rejects ${text}`, () =>
      assert.deepEqual(messages(`Location Eq ${text}`), [`_filter: ${reason} at position 13.`]));
  }
});
