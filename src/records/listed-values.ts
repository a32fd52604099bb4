/**
 * The values of a record as a list, in the order of names that many records share. For a record that only passes through, an object
 * of a hundred members would take as long as reading it from JSON, and more memory than its values.
 */
import type { FieldValue, FieldValues } from '../dictionary/index.ts';
import { memoizePerObject } from '../shared/per-object.ts';

/** The positions of some names in the lists of many records, per array of names. A name without a position is not in the lists. */
const positionsOf = memoizePerObject(
  (_: ReadonlyMap<string, number>) => new WeakMap<readonly string[], Int32Array>(),
);

const NOT_IN_LIST = -1;

export class ListedValues {
  readonly #places: ReadonlyMap<string, number>;
  readonly #list: readonly (FieldValue | undefined)[];

  /**
   * @param places the positions of the names in the list
   * @param list contains null or nothing where the record has no value
   */
  constructor(places: ReadonlyMap<string, number>, list: readonly (FieldValue | undefined)[]) {
    this.#places = places;
    this.#list = list;
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
    const places = positionsOf(this.#places).getOrInsertComputed(names, () =>
      Int32Array.from(names, (name) => this.#places.get(name) ?? NOT_IN_LIST),
    );
    const values: (FieldValue | undefined)[] = [];
    for (const place of places)
      values.push(place === NOT_IN_LIST ? undefined : (this.#list[place] ?? undefined));
    return values;
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
