/** Well-known text of geometries (OGC 06-103r4, clause 7), in two dimensions, with an optional `SRID=…;`. */
import type { Point } from '../../tree.ts';
import type { Area, Geometry } from './nodes.ts';

const HEAD = /^\s*(?:SRID=(\d{1,6});)?\s*([A-Za-z]+)\s*(?=\()/;
const NUMBERS =
  /\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d{1,2})?)\s+([+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d{1,2})?)\s*/y;
const MARK = /\s*([(),])\s*/y;

interface Scan {
  readonly text: string;
  offset: number;
}

function mark(scan: Scan, wanted: '(' | ')' | ','): boolean {
  MARK.lastIndex = scan.offset;
  const found = MARK.exec(scan.text);
  if (found?.[1] !== wanted) return false;
  scan.offset += found[0].length;
  return true;
}

/** `( item, item, … )`; undefined when it is anything else. */
function list<T>(scan: Scan, item: (scan: Scan) => T | undefined): T[] | undefined {
  if (!mark(scan, '(')) return undefined;
  const items: T[] = [];
  do {
    const next = item(scan);
    if (next === undefined) return undefined;
    items.push(next);
  } while (mark(scan, ','));
  return mark(scan, ')') ? items : undefined;
}

function point(scan: Scan): Point | undefined {
  NUMBERS.lastIndex = scan.offset;
  const found = NUMBERS.exec(scan.text);
  if (found === null) return undefined;
  scan.offset += found[0].length;
  return { longitude: Number(found[1]), latitude: Number(found[2]) };
}

const line = (scan: Scan): Point[] | undefined => list(scan, point);

/** A ring has at least four points, the last being the first. */
function ring(scan: Scan): Point[] | undefined {
  const points = line(scan);
  const [first, last] = [points?.at(0), points?.at(-1)];
  if (points === undefined || points.length < 4) return undefined;
  return first?.longitude === last?.longitude && first?.latitude === last?.latitude ? points : undefined;
}

const area = (scan: Scan): Area | undefined => list(scan, ring);

/** A point of `MULTIPOINT` may stand with or without parentheses. */
const loosePoint = (scan: Scan): Point | undefined => {
  if (!mark(scan, '(')) return point(scan);
  const found = point(scan);
  return mark(scan, ')') ? found : undefined;
};

/** The geometry, if its body is well formed. */
function body(name: string, scan: Scan): Geometry | undefined {
  const some = <T>(found: T | undefined): readonly T[] | undefined =>
    found === undefined ? undefined : [found];
  switch (name) {
    case 'POLYGON':
      return areas(some(area(scan)));
    case 'MULTIPOLYGON':
      return areas(list(scan, area));
    case 'POINT': {
      const points = list(scan, point);
      return points?.length === 1 ? { kind: 'points', points } : undefined;
    }
    case 'MULTIPOINT': {
      const points = list(scan, loosePoint);
      return points === undefined ? undefined : { kind: 'points', points };
    }
    case 'LINESTRING':
      return lines(some(line(scan)));
    case 'MULTILINESTRING':
      return lines(list(scan, line));
    default:
      return undefined;
  }
}

const areas = (found: readonly Area[] | undefined): Geometry | undefined =>
  found === undefined ? undefined : { kind: 'areas', areas: found };

/** A line leads from somewhere to somewhere. */
const lines = (found: readonly (readonly Point[])[] | undefined): Geometry | undefined =>
  found?.every((points) => points.length >= 2) === true ? { kind: 'lines', lines: found } : undefined;

/** Whether a text looks like well-known text. */
export const isWellKnownText = (text: string): boolean => HEAD.test(text);

/** Undefined when the text is not well formed. */
export function parseWellKnownText(text: string): Geometry | undefined {
  const [head, srid, word = ''] = HEAD.exec(text) ?? [];
  if (head === undefined) return undefined;
  const scan = { text, offset: head.length };
  const found = body(word.toUpperCase(), scan);
  if (found === undefined || text.slice(scan.offset).trim() !== '') return undefined;
  return { ...found, ...(srid === undefined ? {} : { srid: Number(srid) }) };
}
