/**
 * The outlines of places that the console's map draws below its points, as GeoJSON (RFC 7946). They are only for display: no query
 * and no record uses them.
 */
import { usageError } from '../../errors/index.ts';
import { isObject } from '../../shared/json.ts';

export interface Outlines {
  readonly type: 'FeatureCollection';
  /** Polygons and MultiPolygons with the name of the place. */
  readonly features: readonly object[];
}

export const NO_OUTLINES: Outlines = { type: 'FeatureCollection', features: [] };

const LONGEST_NAME = 200;

/**
 * Reads outlines, and omits everything that is not drawn, such as further properties and altitudes.
 * @throws PlatError `usage` with the position and what is expected there
 */
export function outlinesIn(json: unknown): Outlines {
  if (!isObject(json) || json.type !== 'FeatureCollection')
    throw expected('the top level', 'a FeatureCollection');
  return { type: 'FeatureCollection', features: listIn(json.features, 'features', outlineIn) };
}

function outlineIn(json: unknown, at: string) {
  if (!isObject(json) || json.type !== 'Feature') throw expected(at, 'a Feature');
  const name = isObject(json.properties) ? json.properties.name : undefined;
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) {
    throw expected(`${at}.properties.name`, `a text of 1 to ${LONGEST_NAME} characters`);
  }
  return { type: 'Feature', properties: { name }, geometry: geometryIn(json.geometry, `${at}.geometry`) };
}

function geometryIn(json: unknown, at: string) {
  const { type, coordinates } = isObject(json) ? json : {};
  const inside = `${at}.coordinates`;
  if (type === 'Polygon') return { type, coordinates: ringsIn(coordinates, inside) };
  if (type === 'MultiPolygon') return { type, coordinates: listIn(coordinates, inside, ringsIn, 1) };
  throw expected(`${at}.type`, 'Polygon or MultiPolygon');
}

/** The outer ring, then its holes. */
const ringsIn = (json: unknown, at: string) => listIn(json, at, ringIn, 1);

function ringIn(json: unknown, at: string): number[][] {
  const ring = listIn(json, at, positionIn, 4);
  const [first, last] = [ring[0], ring.at(-1)];
  if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1])
    throw expected(at, 'a ring that ends where it begins');
  return ring;
}

function positionIn(json: unknown, at: string): number[] {
  const [longitude, latitude]: readonly unknown[] = Array.isArray(json) ? json : [];
  if (isWithin(longitude, 180) && isWithin(latitude, 90)) return [longitude, latitude];
  throw expected(at, 'a longitude and a latitude in degrees');
}

const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= most;

function listIn<T>(json: unknown, at: string, read: (json: unknown, at: string) => T, least = 0): T[] {
  if (Array.isArray(json) && json.length >= least) {
    return json.map((each: unknown, index) => read(each, `${at}[${index}]`));
  }
  throw expected(at, least === 0 ? 'a list' : `a list of at least ${least}`);
}

const expected = (at: string, what: string) => usageError(`${at} must be ${what}`);
