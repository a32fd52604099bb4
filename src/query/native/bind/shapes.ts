/** Shapes, compared with the location of a record. */
import type { Distance, Expression, Location, Point } from '../../tree.ts';
import type { Area, Geometry, Shape } from '../syntax/nodes.ts';
import { type BindContext, noteMissing, noteType } from './context.ts';
import { negate, together } from './logic.ts';

const METRES_IN_A_MILE = 1609.344;
/** Latitude and longitude in degrees on WGS 84, the only system that listings use. */
const WGS_84 = 4326;

const isOnEarth = ({ latitude, longitude }: Point): boolean =>
  Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;

const pointsOf = (geometry: Geometry): readonly Point[] => {
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
};

function withinArea(location: Location, [outer = [], ...holes]: Area): Expression {
  const within = (polygon: readonly Point[]): Expression => ({ kind: 'within', location, polygon });
  return together('and', [within(outer), ...holes.map((hole) => negate(within(hole)))]);
}

/** A line is a ring that goes there and the same way back: it has a border, and nothing inside. */
const ringOf = (line: readonly Point[]): readonly Point[] => [...line, ...line.toReversed().slice(1)];

/** Metres of a degree of latitude on the sphere that distances are measured on. */
const METRES_PER_DEGREE = (Math.PI * 6_371_008.8) / 180;

/**
 * What lies beside a piece of a line, as near as that: a rectangle on a map whose degrees of longitude are as long as they
 * are halfway. What lies around its ends is in no rectangle.
 */
function beside(begin: Point, end: Point, metres: number): readonly Point[] {
  const shrinks = Math.cos((((begin.latitude + end.latitude) / 2) * Math.PI) / 180);
  const east = (end.longitude - begin.longitude) * shrinks;
  const north = end.latitude - begin.latitude;
  const reach = metres / METRES_PER_DEGREE / Math.hypot(east, north);
  const off = ({ longitude, latitude }: Point, side: 1 | -1): Point => ({
    longitude: longitude - (side * north * reach) / shrinks,
    latitude: latitude + side * east * reach,
  });
  return [off(begin, 1), off(end, 1), off(end, -1), off(begin, -1), off(begin, 1)];
}

/** Around a line: around each of its points, and beside each of its pieces. */
function aroundLine(location: Location, line: readonly Point[], miles: number): Expression[] {
  return line.flatMap((point, index) => {
    const before = line[index - 1];
    const isPiece =
      before !== undefined && (before.longitude !== point.longitude || before.latitude !== point.latitude);
    return [
      around(location, point, miles),
      ...(isPiece ? [withinArea(location, [beside(before, point, miles * METRES_IN_A_MILE)])] : []),
    ];
  });
}

/** What this service does not compare with, in words; undefined where it does. */
const missing = (geometry: Geometry): string | undefined =>
  'srid' in geometry && geometry.srid !== WGS_84 ? `the coordinate system ${geometry.srid}` : undefined;

function around(location: Location, to: Distance['to'], miles: number): Expression {
  return {
    kind: 'compare',
    operator: 'le',
    left: { kind: 'distance', location, to },
    right: { kind: 'literal', type: 'decimal', value: miles * METRES_IN_A_MILE },
  };
}

function toExpression(location: Location, geometry: Geometry): Expression {
  switch (geometry.kind) {
    case 'circle':
      return around(location, geometry.center, geometry.miles);
    case 'circle-around': {
      const { latitude, longitude } = location;
      return around(location, { key: geometry.record, latitude, longitude }, geometry.miles);
    }
    case 'around':
      return together(
        'or',
        geometry.lines.flatMap((line) => aroundLine(location, line, geometry.miles)),
      );
    case 'areas':
      return together(
        'or',
        geometry.areas.map((area) => withinArea(location, area)),
      );
    case 'points':
      return together(
        'or',
        geometry.points.map((point) => withinArea(location, [[point]])),
      );
    case 'lines':
      return together(
        'or',
        geometry.lines.map((line) => withinArea(location, [ringOf(line)])),
      );
  }
}

/** Whether the location lies in the shape, its border included. A radius is in miles. */
export function bindShape(
  context: BindContext,
  location: Location,
  { geometry, function: name, position }: Shape,
): Expression | undefined {
  const what = missing(geometry);
  if (what !== undefined) return noteMissing(context, what, name, position);
  const stray = pointsOf(geometry).find((point) => !isOnEarth(point));
  if (stray !== undefined) {
    const isLongitudeFirst = name === 'wkt' || geometry.kind === 'around';
    const reason = `latitude ${stray.latitude}, longitude ${stray.longitude} is no point on earth; latitude goes from -90 to 90, longitude from -180 to 180, and ${name}() takes the ${isLongitudeFirst ? 'longitude' : 'latitude'} first`;
    return noteType(context, reason, name, position);
  }
  return toExpression(location, geometry);
}
