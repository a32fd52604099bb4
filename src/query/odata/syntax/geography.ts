import { MAX_DEPTH } from '../limits.ts';

/** Degrees. Altitude and measure are read over. */
export interface Position {
  readonly longitude: number;
  readonly latitude: number;
}

/** A geography or geometry literal. `srid` is absent when the text names none. */
export type Shape = { readonly srid?: number } & (
  | { readonly kind: 'point'; readonly position: Position }
  | { readonly kind: 'polygon'; readonly rings: readonly (readonly Position[])[] }
  /** Well formed, but of a kind that no function here takes. */
  | { readonly kind: 'other'; readonly name: string }
);

interface Reader {
  readonly text: string;
  at: number;
}

type Item<T> = (reader: Reader) => T | undefined;

const SRID = /SRID=(\d{1,5});/iy;
const KIND = /(point|linestring|polygon|multipoint|multilinestring|multipolygon|collection) */iy;
const NUMBER = '[+-]?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?';
const POSITION = new RegExp(` *(${NUMBER}) +(${NUMBER})(?: +${NUMBER}){0,2} *`, 'iy');
const OPEN = / *\( */y;
const COMMA = / *, */y;
const CLOSE = / *\) */y;

function read(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match === null) return undefined;
  reader.at = pattern.lastIndex;
  return match;
}

const position: Item<Position> = (reader) => {
  const match = read(reader, POSITION);
  return match ? { longitude: Number(match[1]), latitude: Number(match[2]) } : undefined;
};

/** `( item , item … )` with at least so many items. */
const listOf =
  <T>(item: Item<T>, least: number): Item<readonly T[]> =>
  (reader) => {
    if (!read(reader, OPEN)) return undefined;
    const items: T[] = [];
    if (least === 0 && read(reader, CLOSE)) return items;
    do {
      const next = item(reader);
      if (next === undefined) return undefined;
      items.push(next);
    } while (read(reader, COMMA));
    return items.length >= least && read(reader, CLOSE) ? items : undefined;
  };

const pointData = listOf(position, 1);
const lineData = listOf(position, 2);
const polygonData = listOf(listOf(position, 1), 1);

function shapeOf(reader: Reader, depth: number): Shape | undefined {
  const name = read(reader, KIND)?.[1]?.toLowerCase();
  const other = (data: readonly unknown[] | undefined): Shape | undefined =>
    data && name !== undefined ? { kind: 'other', name } : undefined;
  switch (name) {
    case 'point': {
      const [only, second] = pointData(reader) ?? [];
      return only && !second ? { kind: 'point', position: only } : undefined;
    }
    case 'polygon': {
      const rings = polygonData(reader);
      return rings && { kind: 'polygon', rings };
    }
    case 'linestring':
      return other(lineData(reader));
    case 'multipoint':
      return other(listOf(pointData, 0)(reader));
    case 'multilinestring':
      return other(listOf(lineData, 0)(reader));
    case 'multipolygon':
      return other(listOf(polygonData, 0)(reader));
    case 'collection':
      if (depth >= MAX_DEPTH) return undefined;
      return other(listOf((inner) => shapeOf(inner, depth + 1), 1)(reader));
    default:
      return undefined;
  }
}

/**
 * Reads the text between the quotes of `geography'…'`: well-known text after `SRID=…;`, which may be left out
 * (OData ABNF, fullPointLiteral and its like). Undefined when it is not well formed.
 */
export function parseShape(text: string): Shape | undefined {
  const reader: Reader = { text, at: 0 };
  const srid = read(reader, SRID)?.[1];
  const shape = shapeOf(reader, 0);
  if (shape === undefined || reader.at !== text.length) return undefined;
  return srid === undefined ? shape : { ...shape, srid: Number(srid) };
}
