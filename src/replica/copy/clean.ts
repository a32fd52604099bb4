import { isObject } from '../../shared/json.ts';

type Json = Readonly<Record<string, unknown>>;

/** What stands in the place of a value that the key may not see; never data (reference: consumer, trap 12). */
const MASK = '********';
const NEXT_LINK = /^(.+)@(?:odata\.)?nextLink$/;

export interface Cleaned {
  readonly json: Json;
  /** Collections that the source gave only the beginning of. */
  readonly partial: readonly string[];
}

/**
 * A record without masks, and without collections that are not whole: they would take away what is missing in them.
 * A record that has neither is given back as it is.
 */
export function clean(given: Json): Cleaned {
  let copy: Record<string, unknown> | undefined;
  const partial: string[] = [];
  for (const name in given) {
    const value = given[name];
    const cleaned = Array.isArray(value) ? cleanList(value) : value;
    if (cleaned !== value) {
      copy ??= { ...given };
      copy[name] = cleaned;
    } else if (value === MASK) {
      copy ??= { ...given };
      delete copy[name];
    }
    const collection = name.includes('@') ? NEXT_LINK.exec(name)?.[1] : undefined;
    if (collection !== undefined) partial.push(collection);
  }
  if (partial.length > 0) {
    copy ??= { ...given };
    for (const name of partial) delete copy[name];
  }
  return { json: copy ?? given, partial };
}

function cleanList(list: readonly unknown[]): readonly unknown[] {
  const cleaned = list.map((member) => (isObject(member) ? clean(member).json : member));
  const isSame = cleaned.every((member, at) => member === list[at] && member !== MASK);
  return isSame ? list : cleaned.filter((member) => member !== MASK);
}
