import type { Distance, Location, Point, Within } from '../../tree.ts';
import type { Node } from '../syntax/nodes.ts';
import {
  type Bound,
  type BoundLocation,
  type BoundRecord,
  type Environment,
  mismatch,
  unsupported,
} from './environment.ts';
import { bindNode } from './expression.ts';

/** The name of the point that a record's Latitude and Longitude make. No dictionary field has it. */
export const COORDINATES = 'Coordinates';

/** The point of a record, if its resource has one that the key may see. */
export function locationOf({ schema, scope, via }: BoundRecord): BoundLocation | undefined {
  const latitude = schema.findField('Latitude');
  const longitude = schema.findField('Longitude');
  if (latitude.kind !== 'visible' || longitude.kind !== 'visible') return undefined;
  return {
    kind: 'location',
    location: { kind: 'location', scope, via, latitude: latitude.field, longitude: longitude.field },
  };
}

/** `geo.distance` between a record and a point, in metres (OData 4.01 URL conventions, 5.1.1.11.1). */
export function bindDistance(env: Environment, node: Node, parameters: readonly Node[]): Distance {
  const { location, other } = sides(env, node, parameters, 'geo.distance');
  if (other.type !== 'point') throw mismatch(env, node, 'geo.distance takes a point, not a polygon');
  return { kind: 'distance', location, to: other.value };
}

/** `geo.intersects` of a record's point with a polygon (5.1.1.11.2). */
export function bindIntersects(env: Environment, node: Node, parameters: readonly Node[]): Within {
  const { location, other } = sides(env, node, parameters, 'geo.intersects');
  if (other.type !== 'polygon') throw mismatch(env, node, 'geo.intersects takes a polygon, not a point');
  return { kind: 'within', location, polygon: other.value };
}

type ShapeLiteral =
  | { readonly type: 'point'; readonly value: Point }
  | { readonly type: 'polygon'; readonly value: readonly Point[] };

function sides(
  env: Environment,
  node: Node,
  parameters: readonly Node[],
  name: string,
): { location: Location; other: ShapeLiteral } {
  const bound = parameters.map((parameter) => ({ node: parameter, bound: bindNode(env, parameter) }));
  let location: Location | undefined;
  let other: ShapeLiteral | undefined;
  for (const side of bound) {
    const shape = shapeOf(side.bound);
    if (side.bound.kind === 'location') location = side.bound.location;
    else if (shape) other = shape;
    else throw mismatch(env, side.node, `${name} takes ${COORDINATES} and a geography literal`);
  }
  if (location && other) return { location, other };
  throw unsupported(env, node, `${name} of two ${location ? 'records' : 'literals'}`);
}

function shapeOf(bound: Bound): ShapeLiteral | undefined {
  if (bound.kind !== 'value' || bound.expression.kind !== 'literal') return undefined;
  const { expression } = bound;
  return expression.type === 'point' || expression.type === 'polygon' ? expression : undefined;
}
