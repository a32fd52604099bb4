/** Outlines of places, as hulls of their points. This module knows only numbers. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** On which side of the line between two points a third one is. */
const turn = (from: Point, to: Point, at: Point): number =>
  (to.longitude - from.longitude) * (at.latitude - from.latitude) -
  (to.latitude - from.latitude) * (at.longitude - from.longitude);

/** One side of the hull of sorted points. */
function side(points: readonly Point[]): Point[] {
  const found: Point[] = [];
  for (const point of points) {
    for (;;) {
      const [before, last] = found.slice(-2);
      if (before === undefined || last === undefined || turn(before, last, point) > 0) break;
      found.pop();
    }
    found.push(point);
  }
  return found.slice(0, -1);
}

/** The corners of the convex hull of points, in order (Andrew's monotone chain). */
export function hullOf(points: readonly Point[]): readonly Point[] {
  const sorted = points.toSorted(
    (one, other) => one.longitude - other.longitude || one.latitude - other.latitude,
  );
  return [...side(sorted), ...side(sorted.toReversed())];
}

export interface Place {
  readonly name: string;
  readonly points: number;
  readonly outline: readonly Point[];
}

/** Fewer points do not form a meaningful outline. */
const LEAST_POINTS = 5;

/** The places with the most points, each with its outline, in descending order. */
export function placesOf(
  points: readonly (Point & { readonly place: string })[],
  most: number,
): readonly Place[] {
  return [...Map.groupBy(points, ({ place }) => place)]
    .filter(([name, { length }]) => name !== '' && length >= LEAST_POINTS)
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, most)
    .map(([name, own]) => ({ name, points: own.length, outline: hullOf(own) }))
    .filter(({ outline }) => outline.length > 2);
}
