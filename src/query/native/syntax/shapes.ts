/** Shapes are written as texts of coordinates: `lat lon, lat lon`, except in well-known text. */
import type { Point } from '../../tree.ts';
import type { ShapeFunction } from './functions.ts';
import type { Geometry } from './nodes.ts';
import { parseWellKnownText } from './well-known-text.ts';

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

function radius(text: string, length: string): ShapeResult {
  const miles = Number(length);
  if (miles <= 0) return { reason: 'radius() takes a length above zero' };
  if (isRecord(text)) return { geometry: { kind: 'circle-around', record: text, miles } };
  const [center, second] = readPoints(text) ?? [];
  if (center === undefined || second !== undefined) {
    return { reason: 'radius() takes one point "latitude longitude", or a ListingKey' };
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
