import { BoundedCache } from '../../shared/bounded-cache.ts';

/** Rings that a thread keeps read. */
const rings = new BoundedCache<Float64Array>('polygons', { entries: 100, bytes: 4 * 1024 * 1024 });

/** A ring as JSON, `[longitude,latitude,longitude,latitude,…]`, as the numbers that are walked for each row. */
function readRing(json: string): Float64Array {
  const known = rings.get(json);
  if (known !== undefined) return known;
  const numbers: unknown = JSON.parse(json);
  const ring = Float64Array.from(Array.isArray(numbers) ? numbers.map(Number) : []);
  return rings.put(json, ring, ring.byteLength);
}

const isBetween = (value: number, one: number, other: number): boolean =>
  one < other ? one <= value && value <= other : other <= value && value <= one;

/**
 * Whether a place lies in a ring, its border included: an edge runs through it, or a ray from it to the east
 * crosses an odd number of edges. The last point is joined to the first.
 * @param json `[longitude,latitude,…]`
 */
export function liesWithin(latitude: number, longitude: number, json: string): boolean {
  const ring = readRing(json);
  let inside = false;
  let [fromX, fromY] = [ring.at(-2) ?? Number.NaN, ring.at(-1) ?? Number.NaN];
  for (let index = 0; index < ring.length; index += 2) {
    const [toX, toY] = [ring[index] ?? Number.NaN, ring[index + 1] ?? Number.NaN];
    const turn = (toX - fromX) * (latitude - fromY) - (longitude - fromX) * (toY - fromY);
    if (turn === 0 && isBetween(longitude, fromX, toX) && isBetween(latitude, fromY, toY)) return true;
    // The place is to the left of an edge that goes north, or to the right of one that goes south.
    if (fromY > latitude !== toY > latitude && turn < 0 === toY < fromY) inside = !inside;
    [fromX, fromY] = [toX, toY];
  }
  return inside;
}
