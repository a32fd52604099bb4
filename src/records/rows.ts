/** The rows that writes handle: stored rows, rows to be written, and tombstones. It knows no SQL and no engine. */
import type { FieldValue, FieldValues, MediaKind } from '../dictionary/index.ts';
import { memoizePerObject } from '../shared/memoize.ts';
import type { RecordName } from './record-name.ts';

/** The part of a stored record that a write needs. */
export interface StoredRow {
  readonly key: string;
  readonly id: number;
  readonly parent: string | null;
  readonly parentResource: string | null;
  readonly system: string | null;
  readonly kind: MediaKind | null;
  readonly hash: string;
  /** The source that the record was replicated from; null in an authority. */
  readonly source: string | null;
  /** The bits of the roles that see the record. */
  readonly visible: number;
  /** Keys, timestamps, and the fields whose changes have a timestamp. */
  readonly values: FieldValues;
  /** Whether the texts in the separate table are missing, or have another key or number than the columns. */
  readonly isTorn?: boolean;
}

export interface RowToPut
  extends Pick<StoredRow, 'key' | 'parent' | 'parentResource' | 'system' | 'kind' | 'hash'> {
  /** The stored record to replace. */
  readonly stored: StoredRow | undefined;
  /** The whole content, including timestamps. */
  readonly values: FieldValues | ListedValues;
  /**
   * Timestamps and counts that the store itself sets, which take precedence over those in `values` (`valueToStore`). Copying values
   * of a hundred members would take longer than hashing them.
   */
  readonly derived?: FieldValues;
  /** The texts that contain nothing derived (`fixedTexts`), if they were written with the model of the write. */
  readonly fixedTexts?: (() => readonly string[]) | undefined;
  /** The bits of the roles that may know that the row exists; only for rows that the store itself publishes. */
  readonly audience?: number;
}

/** A value of a record to be stored. */
export const valueToStore = (
  { values, derived }: Pick<RowToPut, 'values' | 'derived'>,
  name: string,
): FieldValue | undefined => derived?.[name] ?? valueIn(values, name);

/** A value of a record. */
export const valueIn = (values: FieldValues | ListedValues, name: string): FieldValue | undefined =>
  values instanceof ListedValues ? values.get(name) : values[name];

/**
 * The values of a record to be stored, in the order of some names.
 * @param places the positions of the names
 */
export function valuesToStore(
  { values, derived = {} }: Pick<RowToPut, 'values' | 'derived'>,
  names: readonly string[],
  places: ReadonlyMap<string, number>,
): (FieldValue | undefined)[] {
  const list = values instanceof ListedValues ? values.inOrder(names) : names.map((name) => values[name]);
  for (const name in derived) {
    const place = places.get(name);
    if (place !== undefined) list[place] = derived[name] ?? list[place];
  }
  return list;
}

/** A record whose content does not change, except for its timestamps and perhaps the counts of its children. */
export interface RowToRestamp {
  readonly stored: StoredRow;
  /** Its new timestamps and counts; all others stay unchanged. Copying its values would take longer than writing it. */
  readonly derived: FieldValues;
  /** Present if counts change. */
  readonly hash?: string;
}

/** The values that differ from those of a stored record; undefined if none does. */
export function changedValues<T extends FieldValue>(
  values: Readonly<Record<string, T>>,
  stored: FieldValues = {},
): Readonly<Record<string, T>> | undefined {
  let moved: Record<string, T> | undefined;
  for (const name in values) {
    const value = values[name];
    if (value === undefined || stored[name] === value) continue;
    moved ??= {};
    moved[name] = value;
  }
  return moved;
}

export interface Tombstone extends RecordName {
  /** A canonical timestamp. */
  readonly deletedAt: string;
}

/** The positions of names in lists of values. Records of one page or group share them; a further name gets the next position. */
export type Places = Map<string, number>;

/** The positions of some names, and how many names had one when they were looked up. */
interface Positions {
  readonly of: number;
  readonly list: readonly number[];
}

/** The positions of some names in the lists of many records, per array of names. A name without a position is not in the lists. */
const positionsOf = memoizePerObject((_: Places) => new WeakMap<readonly string[], Positions>());

const NOT_IN_LIST = -1;

/** The names with a position that a map lacks, and how many names had one when they were looked up. */
interface Outside {
  readonly of: number;
  readonly names: readonly string[];
}

const outsideOf = memoizePerObject((_: Places) => new WeakMap<ReadonlyMap<string, unknown>, Outside>());

/**
 * The values of a record as a list, in the order of names that many records share. For a record that only passes through, an object
 * of a hundred members would take as long as reading it from JSON, and more memory than its values.
 */
export class ListedValues {
  readonly #places: Places;
  readonly #list: (FieldValue | undefined)[];

  /**
   * @param places the positions of the names in the list
   * @param list contains null or nothing where the record has no value
   */
  constructor(places: Places, list: (FieldValue | undefined)[] = new Array(places.size).fill(null)) {
    this.#places = places;
    this.#list = list;
  }

  set(name: string, value: FieldValue): void {
    const { size } = this.#places;
    const place = this.#places.getOrInsert(name, size);
    // A list with gaps would be slow.
    while (this.#list.length < place) this.#list.push(null);
    this.#list[place] = value;
  }

  /**
   * The names of its values that are not among the given ones.
   * @param known must be the same map for many records, so that each name is looked up once
   */
  namesOutside(known: ReadonlyMap<string, unknown>): readonly string[] {
    const { size } = this.#places;
    const memo = outsideOf(this.#places);
    let outside = memo.get(known);
    if (outside?.of !== size) {
      outside = { of: size, names: [...this.#places.keys()].filter((name) => !known.has(name)) };
      memo.set(known, outside);
    }
    return outside.names.filter((name) => this.get(name) !== undefined);
  }

  get(name: string): FieldValue | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : (this.#list[place] ?? undefined);
  }

  /**
   * The values of the given names, in their order.
   * @param names must be the same array for many records, so that each name is looked up once
   */
  inOrder(names: readonly string[]): (FieldValue | undefined)[] {
    const known = positionsOf(this.#places);
    let positions = known.get(names);
    if (positions?.of !== this.#places.size) {
      const list = names.map((name) => this.#places.get(name) ?? NOT_IN_LIST);
      positions = { of: this.#places.size, list };
      known.set(names, positions);
    }
    const list = this.#list;
    return positions.list.map((place) => (place === NOT_IN_LIST ? undefined : (list[place] ?? undefined)));
  }

  toObject(): FieldValues {
    const values: Record<string, FieldValue> = {};
    for (const [name, place] of this.#places) {
      const value = this.#list[place];
      if (value !== undefined && value !== null) values[name] = value;
    }
    return values;
  }
}

/** Returns the values as an object. */
export const plainValues = (values: FieldValues | ListedValues): FieldValues =>
  values instanceof ListedValues ? values.toObject() : values;
