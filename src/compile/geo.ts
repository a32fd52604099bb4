import type { Field } from '../dictionary/index.ts';
import type { ComparisonOperator, Distance, Literal, Location, Within } from '../query/tree.ts';
import { type Context, visibleRows, withScope } from './context.ts';
import { conditionAt, type Place, placeOf, valueAt } from './fields.ts';
import { all, bind, column, name, type Sql, sql } from './fragment.ts';

/** Mean radius of the earth in metres (IUGG). */
const EARTH_RADIUS = 6_371_008.8;
const METRES_PER_DEGREE = (Math.PI * EARTH_RADIUS) / 180;

interface Coordinates {
  readonly places: { readonly latitude: Place; readonly longitude: Place };
  readonly latitude: Sql;
  readonly longitude: Sql;
}

function coordinates(context: Context, location: Location): Coordinates {
  const { scope, via } = location;
  const latitude = placeOf(context, scope, via, location.latitude);
  const longitude = placeOf(context, scope, via, location.longitude);
  return { places: { latitude, longitude }, latitude: valueAt(latitude), longitude: valueAt(longitude) };
}

const between =
  (low: number, high: number) =>
  (value: Sql): Sql =>
    sql`${value} BETWEEN ${bind(low)} AND ${bind(high)}`;

/** A point of the statement: null where it is that of a record which the role does not see, or that lies nowhere. */
interface Target {
  readonly latitude: Sql;
  readonly longitude: Sql;
}

function targetOf(context: Context, to: Distance['to']): Target {
  if (!('key' in to)) return { latitude: bind(to.latitude), longitude: bind(to.longitude) };
  const { key, latitude, longitude } = to;
  const { resource } = latitude;
  const layout = context.model.layout(resource);
  const alias = context.alias();
  const inner = withScope(context, 0, { kind: 'record', alias, resource });
  const where = all([sql`${column(alias, '_key')} = ${bind(key)}`, ...visibleRows(inner, layout, alias)]);
  const looked = (field: Field): Sql =>
    sql`(SELECT ${valueAt(placeOf(inner, 0, [], field))} FROM ${name(layout.columnsTable)} ${name(alias)} WHERE ${where})`;
  return { latitude: looked(latitude), longitude: looked(longitude) };
}

/** Great-circle distance in metres, by the haversine formula. */
export function distanceValue(context: Context, { location, to }: Distance): Sql {
  return haversine(coordinates(context, location), targetOf(context, to));
}

function haversine({ latitude, longitude }: Coordinates, to: Target): Sql {
  const toLatitude = sql`radians(${to.latitude})`;
  const north = sql`sin((radians(${latitude}) - ${toLatitude}) / 2)`;
  const east = sql`sin((radians(${longitude}) - radians(${to.longitude})) / 2)`;
  const chord = sql`(${north} * ${north} + cos(radians(${latitude})) * cos(${toLatitude}) * ${east} * ${east})`;
  // Rounding may lift the chord of opposite points a little above 1.
  const angle = sql`CASE WHEN ${chord} < 1 THEN asin(sqrt${chord}) WHEN ${chord} >= 1 THEN ${bind(Math.PI / 2)} END`;
  return sql`(${bind(2 * EARTH_RADIUS)} * (${angle}))`;
}

/** A comparison of a distance; "nearer than" first asks for the latitudes in question, which an index serves. */
export function distanceCondition(
  context: Context,
  distance: Distance,
  operator: ComparisonOperator,
  limit: Literal,
  exact: boolean,
): Sql {
  const at = coordinates(context, distance.location);
  const to = targetOf(context, distance.to);
  const measured = haversine(at, to);
  const metres = bind(typeof limit.value === 'number' ? limit.value : null);
  if (operator === 'ne') return sql`${measured} IS DISTINCT FROM ${metres}`;
  const compared = {
    eq: sql`${measured} = ${metres}`,
    gt: sql`${measured} > ${metres}`,
    ge: sql`${measured} >= ${metres}`,
    lt: sql`${measured} < ${metres}`,
    le: sql`${measured} <= ${metres}`,
  }[operator];
  if (exact) return sql`coalesce(${compared}, FALSE)`;
  if ((operator !== 'lt' && operator !== 'le') || typeof limit.value !== 'number') return compared;
  const reach = limit.value / METRES_PER_DEGREE + 1e-9;
  const near = conditionAt(
    at.places.latitude,
    'key' in distance.to
      ? (value) => sql`${value} BETWEEN ${to.latitude} - ${bind(reach)} AND ${to.latitude} + ${bind(reach)}`
      : between(distance.to.latitude - reach, distance.to.latitude + reach),
  );
  return sql`(${near} AND ${compared})`;
}

/**
 * Whether the location lies in the polygon, its border included. The polygon's box comes first, which an index serves.
 * @param exact whether a missing location must give null rather than false
 */
export function withinCondition(context: Context, { location, polygon }: Within, exact: boolean): Sql {
  const at = coordinates(context, location);
  const inside = context.dialect.within(at.latitude, at.longitude, polygon);
  if (exact) return inside;
  const latitudes = polygon.map((point) => point.latitude);
  const longitudes = polygon.map((point) => point.longitude);
  const inLatitudes = between(Math.min(...latitudes), Math.max(...latitudes));
  const inLongitudes = between(Math.min(...longitudes), Math.max(...longitudes));
  return all([
    conditionAt(at.places.latitude, inLatitudes),
    conditionAt(at.places.longitude, inLongitudes),
    inside,
  ]);
}
