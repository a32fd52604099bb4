/** Shapes, compared with the location of a record. */
import type { Expression, Location, Point } from '../../tree.ts';
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
    case 'areas':
      return geometry.areas.flat(2);
    default:
      return [];
  }
};

function withinArea(location: Location, [outer = [], ...holes]: Area): Expression {
  const within = (polygon: readonly Point[]): Expression => ({ kind: 'within', location, polygon });
  return together('and', [within(outer), ...holes.map((hole) => negate(within(hole)))]);
}

/** What this service does not compare with, in words; undefined where it does. */
function missing(geometry: Geometry): string | undefined {
  switch (geometry.kind) {
    case 'circle':
      return undefined;
    case 'areas':
      return geometry.srid === undefined || geometry.srid === WGS_84
        ? undefined
        : `the coordinate system ${geometry.srid}`;
    case 'circle-around':
      return 'a radius around another listing';
    case 'other':
      return geometry.name;
  }
}

function toExpression(location: Location, geometry: Geometry): Expression | undefined {
  switch (geometry.kind) {
    case 'circle':
      return {
        kind: 'compare',
        operator: 'le',
        left: { kind: 'distance', location, to: geometry.center },
        right: { kind: 'literal', type: 'decimal', value: geometry.miles * METRES_IN_A_MILE },
      };
    case 'areas':
      return together(
        'or',
        geometry.areas.map((area) => withinArea(location, area)),
      );
    default:
      return undefined;
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
    const reason = `latitude ${stray.latitude}, longitude ${stray.longitude} is no point on earth; latitude goes from -90 to 90, longitude from -180 to 180, and ${name}() takes the ${name === 'wkt' ? 'longitude' : 'latitude'} first`;
    return noteType(context, reason, name, position);
  }
  return toExpression(location, geometry);
}
