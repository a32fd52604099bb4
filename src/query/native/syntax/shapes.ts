/** Shapes are written as texts of coordinates: `lat lon, lat lon`, except in well-known text. */
import type { Point } from '../../tree.ts';
import type { ShapeFunction } from './functions.ts';
import type { Geometry } from './nodes.ts';
import { isWellKnownText, parseWellKnownText } from './well-known-text.ts';

export type ShapeResult = { readonly geometry: Geometry } | { readonly reason: string };

const NUMBER = /^[+-]?\d+(?:\.\d*)?$|^[+-]?\.\d+$/;

/** A key of a listing is one word. A number of degrees alone is half a point. */
const isRecord = (text: string): boolean =>
  /^[^\s,]+$/.test(text) && !(NUMBER.test(text) && Math.abs(Number(text)) <= 180);

/** Points of `lat lon, lat lon`; undefined when a part is anything but two numbers. */
function readPoints(text: string): Point[] | undefined {
  const points: Point[] = [];
  for (const part of text.split(',')) {
    const [latitude = '', longitude = '', more] = part.trim().split(/\s+/);
    if (more !== undefined || !NUMBER.test(latitude) || !NUMBER.test(longitude)) return undefined;
    points.push({ longitude: Number(longitude), latitude: Number(latitude) });
  }
  return points;
}

const same = (left: Point, right: Point): boolean =>
  left.longitude === right.longitude && left.latitude === right.latitude;

/** A ring ends where it begins. */
function closed(points: readonly [Point, ...Point[]]): Point[] {
  const last = points.at(-1) ?? points[0];
  return same(points[0], last) ? [...points] : [...points, points[0]];
}

/** Points of the lines that a radius is around. */
const MOST_POINTS = 100;

const AROUND =
  'radius() takes one point "latitude longitude", a ListingKey, or a point or line of well-known text, such as POINT(lon lat)';

/** Around what well-known text says: points and lines. */
function aroundText(text: string, miles: number): ShapeResult {
  const found = parseWellKnownText(text);
  if (found?.kind === 'areas') {
    return { reason: 'radius() goes around points and lines of well-known text; wkt() takes polygons' };
  }
  if (found?.kind !== 'points' && found?.kind !== 'lines') {
    return { reason: `${AROUND}, with a space between the two numbers and commas between points` };
  }
  const lines = found.kind === 'lines' ? found.lines : found.points.map((point) => [point]);
  if (lines.flat().length > MOST_POINTS) return { reason: `radius() takes at most ${MOST_POINTS} points` };
  const { srid } = found;
  return { geometry: { kind: 'around', lines, miles, ...(srid === undefined ? {} : { srid }) } };
}

function radius(text: string, length: string): ShapeResult {
  const miles = Number(length);
  if (miles <= 0) return { reason: 'radius() takes a length above zero' };
  if (isWellKnownText(text)) return aroundText(text, miles);
  if (isRecord(text)) return { geometry: { kind: 'circle-around', record: text, miles } };
  const [center, second] = readPoints(text) ?? [];
  if (center === undefined || second !== undefined) {
    return { reason: AROUND };
  }
  return { geometry: { kind: 'circle', center, miles } };
}

function rectangle(text: string): ShapeResult {
  const [first, second, third] = readPoints(text) ?? [];
  if (first === undefined || second === undefined || third !== undefined) {
    return { reason: 'rectangle() takes two opposite corners "latitude longitude, latitude longitude"' };
  }
  const ring = closed([
    first,
    { longitude: second.longitude, latitude: first.latitude },
    second,
    { longitude: first.longitude, latitude: second.latitude },
  ]);
  return { geometry: { kind: 'areas', areas: [[ring]] } };
}

/** @param values what stood in the parentheses: the coordinates, and for `radius` its length in miles */
export function readShape(name: ShapeFunction, values: readonly string[]): ShapeResult {
  const [text = '', length = ''] = values;
  switch (name) {
    case 'radius':
      return radius(text, length);
    case 'rectangle':
      return rectangle(text);
    case 'polygon': {
      const [first, second, third, ...more] = readPoints(text) ?? [];
      if (first === undefined || second === undefined || third === undefined) {
        return { reason: 'polygon() takes at least three points "latitude longitude"' };
      }
      return { geometry: { kind: 'areas', areas: [[closed([first, second, third, ...more])]] } };
    }
    case 'linestring': {
      const points = readPoints(text) ?? [];
      return points.length < 2
        ? { reason: 'linestring() takes at least two points "latitude longitude"' }
        : { geometry: { kind: 'lines', lines: [points] } };
    }
    case 'wkt': {
      const geometry = parseWellKnownText(text);
      return geometry === undefined
        ? { reason: 'wkt() takes well-known text, such as POLYGON((lon lat, lon lat, lon lat, lon lat))' }
        : { geometry };
    }
  }
}
