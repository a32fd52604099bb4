/**
 * Parses the well-known text of geometries (OGC 06-103r4, clause 7), with an optional `SRID=…;` prefix. It checks only the form;
 * each query language decides which shapes it accepts and what they mean.
 */
import type { Point } from './tree.ts';

/** A geometry: areas are lists of rings; rings and lines are lists of points. */
export interface WellKnownShape {
  readonly kind: Kind;
  /** Absent if the text has no SRID. */
  readonly srid?: number;
  /**
   * A point is represented as a line of one point, and a line as an area of one ring. The areas of a collection are concatenated.
   */
  readonly areas: readonly Area[];
}

type Kind =
  | 'point'
  | 'linestring'
  | 'polygon'
  | 'multipoint'
  | 'multilinestring'
  | 'multipolygon'
  | 'collection';

/** A polygon: its outer ring, then its holes. */
export type Area = readonly (readonly Point[])[];

/** The maximum nesting of collections. */
const MAX_DEPTH = 100;

const SRID = /\s*SRID=(\d{1,6});\s*/iy;
const KIND = /\s*(point|linestring|polygon|multipoint|multilinestring|multipolygon|collection)\s*(?=\()/iy;
const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';
/** Longitude and latitude; altitude and measure may follow and are ignored. */
const POINT = new RegExp(`\\s*(${NUMBER})\\s+(${NUMBER})(?:\\s+${NUMBER}){0,2}\\s*`, 'iy');
const OPEN = /\s*\(\s*/y;
const COMMA = /\s*,\s*/y;
const CLOSE = /\s*\)\s*/y;

interface Reader {
  readonly text: string;
  offset: number;
}

type Item<T> = (reader: Reader) => T | undefined;

function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.offset;
  const match = pattern.exec(reader.text);
  if (match === null) return undefined;
  reader.offset = pattern.lastIndex;
  return match;
}

/** `( item , item … )` with at least `least` items. */
const listOf =
  <T>(item: Item<T>, least: number): Item<readonly T[]> =>
  (reader) => {
    if (!take(reader, OPEN)) return undefined;
    const items: T[] = [];
    if (least === 0 && take(reader, CLOSE)) return items;
    do {
      const next = item(reader);
      if (next === undefined) return undefined;
      items.push(next);
    } while (take(reader, COMMA));
    return items.length >= least && take(reader, CLOSE) ? items : undefined;
  };

const point: Item<Point> = (reader) => {
  const match = take(reader, POINT);
  return match && { longitude: Number(match[1]), latitude: Number(match[2]) };
};
const onePoint = listOf(point, 1);
const line = listOf(point, 2);
const polygon = listOf(onePoint, 1);

const asArea: (item: Item<readonly Point[]>) => Item<Area> = (item) => (reader) => {
  const points = item(reader);
  return points && [points];
};
const pointArea = asArea((reader) => {
  const points = onePoint(reader);
  return points?.length === 1 ? points : undefined;
});
/** The points of a `MULTIPOINT` may or may not be in parentheses. */
const loosePoint = asArea((reader) => {
  const found = point(reader);
  return found ? [found] : onePoint(reader);
});

const one =
  (item: Item<Area>): Item<readonly Area[]> =>
  (reader) => {
    const area = item(reader);
    return area && [area];
  };

const BODIES: Readonly<Record<Exclude<Kind, 'collection'>, Item<readonly Area[]>>> = {
  point: one(pointArea),
  linestring: one(asArea(line)),
  polygon: one(polygon),
  multipoint: listOf(loosePoint, 0),
  multilinestring: listOf(asArea(line), 0),
  multipolygon: listOf(polygon, 0),
};

const isKind = (name: string): name is keyof typeof BODIES => Object.hasOwn(BODIES, name);

function readShape(reader: Reader, depth: number): WellKnownShape | undefined {
  const kind = take(reader, KIND)?.[1]?.toLowerCase() ?? '';
  if (isKind(kind)) {
    const areas = BODIES[kind](reader);
    return areas && { kind, areas };
  }
  if (kind !== 'collection' || depth >= MAX_DEPTH) return undefined;
  const shapes = listOf((inner) => readShape(inner, depth + 1), 1)(reader);
  return shapes && { kind, areas: shapes.flatMap(({ areas }) => areas) };
}

/** Parses the geometry in a text; undefined if the text is malformed. */
export function readWellKnownText(text: string): WellKnownShape | undefined {
  const reader: Reader = { text, offset: 0 };
  const srid = take(reader, SRID)?.[1];
  const shape = readShape(reader, 0);
  if (shape === undefined || reader.offset !== text.length) return undefined;
  return srid === undefined ? shape : { ...shape, srid: Number(srid) };
}

/** Whether a line is a ring: at least four points, the last equal to the first. */
export function isRing(points: readonly Point[]): boolean {
  const [first, last] = [points[0], points.at(-1)];
  const closed = first?.longitude === last?.longitude && first?.latitude === last?.latitude;
  return closed && points.length >= 4;
}
