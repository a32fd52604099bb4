/**
 * Shapes that native filters compare a record's location with. This module parses the coordinates in the arguments of `radius`,
 * `polygon` and similar functions (`lat lon, lat lon`; in well-known text `lon lat`), and creates the conditions of the query tree.
 */
import type { Distance, Expression, Location, Point } from '../tree.ts';
import { type Area, isRing, readWellKnownText } from '../well-known-text.ts';
import type { ShapeFunction } from './functions.ts';
import { joinTerms, negate } from './logic.ts';

type Line = readonly Point[];

/** Rings are closed: the last point is the first. */
export type Geometry =
  | { readonly kind: 'circle'; readonly center: Point; readonly miles: number }
  /** Around lines; a line may consist of a single point. */
  | {
      readonly kind: 'around';
      readonly lines: readonly Line[];
      readonly miles: number;
      readonly srid?: number;
    }
  | { readonly kind: 'circle-around'; readonly record: string; readonly miles: number }
  | { readonly kind: 'areas'; readonly areas: readonly Area[]; readonly srid?: number }
  | { readonly kind: 'points'; readonly points: readonly Point[]; readonly srid?: number }
  | { readonly kind: 'lines'; readonly lines: readonly Line[]; readonly srid?: number };

type ReadShape = { readonly geometry: Geometry } | { readonly reason: string };

// Reading

const NUMBER = /^[+-]?\d+(?:\.\d*)?$|^[+-]?\.\d+$/;

/** The key of a listing is a single word. A number that could be degrees is treated as an incomplete point. */
const isRecord = (text: string): boolean =>
  /^[^\s,]+$/.test(text) && !(NUMBER.test(text) && Math.abs(Number(text)) <= 180);

/** The points of `lat lon, lat lon`; undefined if a part is not two numbers. */
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

/** Closes a ring by repeating its first point. */
function closed(points: readonly [Point, ...Point[]]): Point[] {
  const last = points.at(-1) ?? points[0];
  return same(points[0], last) ? [...points] : [...points, points[0]];
}

const LOOKS_WELL_KNOWN = /^\s*(?:SRID=\d{1,6};)?\s*[A-Za-z]+\s*\(/;

/** Undefined if the text is malformed, or of a kind that no filter accepts. */
function readGeometry(text: string): Extract<Geometry, { kind: 'areas' | 'points' | 'lines' }> | undefined {
  const { kind, areas = [], srid } = readWellKnownText(text) ?? {};
  if (areas.length === 0) return undefined;
  const system = srid === undefined ? {} : { srid };
  switch (kind) {
    case 'polygon':
    case 'multipolygon':
      return areas.flat().every(isRing) ? { kind: 'areas', areas, ...system } : undefined;
    case 'point':
    case 'multipoint':
      return { kind: 'points', points: areas.flat(2), ...system };
    case 'linestring':
    case 'multilinestring':
      return { kind: 'lines', lines: areas.flat(), ...system };
    default:
      return undefined;
  }
}

/** The largest number of points of the lines around which a radius is drawn. */
const MOST_POINTS = 100;

const RADIUS_USAGE =
  'radius() takes one point "latitude longitude", a ListingKey, or a point or line of well-known text, such as POINT(lon lat)';

function readRadius(text: string, length: string): ReadShape {
  const miles = Number(length);
  if (miles <= 0) return { reason: 'radius() takes a length above zero' };
  if (LOOKS_WELL_KNOWN.test(text)) {
    const found = readGeometry(text);
    if (found === undefined) {
      return { reason: `${RADIUS_USAGE}, with a space between the two numbers and commas between points` };
    }
    if (found.kind === 'areas') {
      return { reason: 'radius() goes around points and lines of well-known text; wkt() takes polygons' };
    }
    const lines = found.kind === 'lines' ? found.lines : found.points.map((point) => [point]);
    if (lines.flat().length > MOST_POINTS) return { reason: `radius() takes at most ${MOST_POINTS} points` };
    const { srid } = found;
    return { geometry: { kind: 'around', lines, miles, ...(srid === undefined ? {} : { srid }) } };
  }
  if (isRecord(text)) return { geometry: { kind: 'circle-around', record: text, miles } };
  const [center, second] = readPoints(text) ?? [];
  if (center === undefined || second !== undefined) return { reason: RADIUS_USAGE };
  return { geometry: { kind: 'circle', center, miles } };
}

/** @param values the arguments: the coordinates and, for `radius`, its length in miles */
export function readShape(name: ShapeFunction, values: readonly string[]): ReadShape {
  const [text = '', length = ''] = values;
  if (name === 'radius') return readRadius(text, length);
  if (name === 'wkt') {
    const geometry = readGeometry(text);
    return geometry === undefined
      ? { reason: 'wkt() takes well-known text, such as POLYGON((lon lat, lon lat, lon lat, lon lat))' }
      : { geometry };
  }
  const points = readPoints(text) ?? [];
  const [first, second, third, ...more] = points;
  switch (name) {
    case 'rectangle': {
      if (first === undefined || second === undefined || third !== undefined) {
        return { reason: 'rectangle() takes two opposite corners "latitude longitude, latitude longitude"' };
      }
      const corners = [
        { longitude: second.longitude, latitude: first.latitude },
        second,
        { longitude: first.longitude, latitude: second.latitude },
      ];
      return { geometry: { kind: 'areas', areas: [[closed([first, ...corners])]] } };
    }
    case 'polygon':
      if (first === undefined || second === undefined || third === undefined) {
        return { reason: 'polygon() takes at least three points "latitude longitude"' };
      }
      return { geometry: { kind: 'areas', areas: [[closed([first, second, third, ...more])]] } };
    case 'linestring':
      return points.length < 2
        ? { reason: 'linestring() takes at least two points "latitude longitude"' }
        : { geometry: { kind: 'lines', lines: [points] } };
  }
}

// Conditions

const METERS_IN_A_MILE = 1609.344;
/** The length of a degree of latitude in meters, on the sphere on which distances are measured. */
const METERS_PER_DEGREE = (Math.PI * 6_371_008.8) / 180;
/** WGS 84: latitude and longitude in degrees, the only coordinate system of listings. */
const WGS_84 = 4326;

const isOnEarth = ({ latitude, longitude }: Point): boolean =>
  Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;

function pointsOf(geometry: Geometry): readonly Point[] {
  switch (geometry.kind) {
    case 'circle':
      return [geometry.center];
    case 'circle-around':
      return [];
    case 'areas':
      return geometry.areas.flat(2);
    case 'points':
      return geometry.points;
    case 'lines':
    case 'around':
      return geometry.lines.flat();
  }
}

/**
 * Why locations cannot be compared with a shape: the service does not support its coordinate system (`missing`), or one of its
 * points is not on earth.
 * @param name the function that the request used
 */
export function shapeProblem(
  geometry: Geometry,
  name: string,
): { readonly missing: string } | { readonly reason: string } | undefined {
  if ('srid' in geometry && geometry.srid !== WGS_84) {
    return { missing: `the coordinate system ${geometry.srid}` };
  }
  const stray = pointsOf(geometry).find((point) => !isOnEarth(point));
  if (stray === undefined) return undefined;
  const first = name === 'wkt' || geometry.kind === 'around' ? 'longitude' : 'latitude';
  const reason = `latitude ${stray.latitude}, longitude ${stray.longitude} is not a point on earth; latitude goes from -90 to 90, longitude from -180 to 180, and ${name}() expects the ${first} first`;
  return { reason };
}

/** Whether a location lies in the shape, including its border. */
export function shapeCondition(location: Location, geometry: Geometry): Expression {
  switch (geometry.kind) {
    case 'circle':
      return withinDistance(location, geometry.center, geometry.miles);
    case 'circle-around': {
      const { latitude, longitude } = location;
      return withinDistance(location, { key: geometry.record, latitude, longitude }, geometry.miles);
    }
    case 'around':
      return joinTerms(
        'or',
        geometry.lines.flatMap((line) => withinDistanceOfLine(location, line, geometry.miles)),
      );
    case 'areas':
      return withinAny(location, geometry.areas);
    case 'points':
      return withinAny(
        location,
        geometry.points.map((point) => [[point]]),
      );
    case 'lines':
      return withinAny(
        location,
        geometry.lines.map((line) => [ringOf(line)]),
      );
  }
}

const withinAny = (location: Location, areas: readonly Area[]): Expression =>
  joinTerms(
    'or',
    areas.map((area) => withinArea(location, area)),
  );

function withinArea(location: Location, [outer = [], ...holes]: Area): Expression {
  const within = (polygon: Line): Expression => ({ kind: 'within', location, polygon });
  return joinTerms('and', [within(outer), ...holes.map((hole) => negate(within(hole)))]);
}

/** A line as a ring that runs along it and back, which has a border but no interior. */
const ringOf = (line: Line): Line => [...line, ...line.toReversed().slice(1)];

function withinDistance(location: Location, to: Distance['to'], miles: number): Expression {
  return {
    kind: 'compare',
    operator: 'le',
    left: { kind: 'distance', location, to },
    right: { kind: 'literal', type: 'decimal', value: miles * METERS_IN_A_MILE },
  };
}

/** The conditions for a location near a line: near one of its points, or next to one of its segments. */
function withinDistanceOfLine(location: Location, line: Line, miles: number): Expression[] {
  return line.flatMap((point, index) => {
    const before = line[index - 1];
    const circle = withinDistance(location, point, miles);
    if (before === undefined || same(before, point)) return [circle];
    return [circle, withinArea(location, [bandAlongSegment(before, point, miles * METERS_IN_A_MILE)])];
  });
}

/**
 * The points within a distance of a segment, except those around its ends: a rectangle on a map that scales longitude as at the
 * middle of the segment.
 */
function bandAlongSegment(begin: Point, end: Point, meters: number): Line {
  const shrinks = Math.cos((((begin.latitude + end.latitude) / 2) * Math.PI) / 180);
  const east = (end.longitude - begin.longitude) * shrinks;
  const north = end.latitude - begin.latitude;
  const offset = meters / METERS_PER_DEGREE / Math.hypot(east, north);
  const off = ({ longitude, latitude }: Point, side: 1 | -1): Point => ({
    longitude: longitude - (side * north * offset) / shrinks,
    latitude: latitude + side * east * offset,
  });
  return [off(begin, 1), off(end, 1), off(end, -1), off(begin, -1), off(begin, 1)];
}
