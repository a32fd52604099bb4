/** Distances and polygons on the globe, in degrees. */
import { Unsure } from './values.ts';

export interface Place {
  readonly longitude: number;
  readonly latitude: number;
}

/** The mean radius of the earth (IUGG), in metres. */
const RADIUS = 6_371_008.8;
const RADIANS = Math.PI / 180;

const onSphere = ({ longitude, latitude }: Place): readonly [number, number, number] => {
  const [lambda, phi] = [longitude * RADIANS, latitude * RADIANS];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
};

/** The distance in metres along a great circle, from the chord between the points. */
export function distanceBetween(one: Place, other: Place): number {
  const [x, y, z] = onSphere(one);
  const [u, v, w] = onSphere(other);
  const chord = Math.hypot(x - u, y - v, z - w);
  return 2 * RADIUS * Math.asin(Math.min(1, chord / 2));
}

/** Twice the signed area of the triangle; 0 if the three points are in line. */
const turn = (from: Place, to: Place, place: Place): number =>
  (to.longitude - from.longitude) * (place.latitude - from.latitude) -
  (place.longitude - from.longitude) * (to.latitude - from.latitude);

const isBetween = (value: number, one: number, other: number): boolean =>
  Math.min(one, other) <= value && value <= Math.max(one, other);

/** Whether a place lies on a line. If it misses a slanting segment only by rounding, the result is left open. */
export function liesOn(place: Place, line: readonly Place[]): boolean {
  return line.some((to, index) => {
    const from = line[index - 1] ?? to;
    return touches(place, from, to);
  });
}

function touches(place: Place, from: Place, to: Place): boolean {
  const near =
    isBetween(place.longitude, from.longitude, to.longitude) &&
    isBetween(place.latitude, from.latitude, to.latitude);
  const side = turn(from, to, place);
  const straight = from.longitude === to.longitude || from.latitude === to.latitude;
  if (near && side === 0) return true;
  if (near && !straight && Math.abs(side) < 1e-12) throw new Unsure('almost on the border');
  return false;
}

/**
 * Whether a place lies in a ring, including its border. Edges are straight in degrees. If a place misses a slanting edge only by
 * rounding, the result is left open.
 */
export function liesWithin(place: Place, ring: readonly Place[]): boolean {
  let inside = false;
  for (const [index, to] of ring.entries()) {
    const from = ring[index - 1];
    if (from === undefined) continue;
    if (touches(place, from, to)) return true;
    const side = turn(from, to, place);
    const crosses = from.latitude > place.latitude !== to.latitude > place.latitude;
    if (crosses && side > 0 === to.latitude > from.latitude) inside = !inside;
  }
  return inside;
}
