import { isObject } from '../source/answer.ts';

type Json = Readonly<Record<string, unknown>>;

/** What stands in the place of a value that the key may not see; never data (reference: consumer, trap 12). */
const MASK = '********';
const NEXT_LINK = /^(.+)@(?:odata\.)?nextLink$/;

export interface Cleaned {
  readonly json: Json;
  /** Collections that the source gave only the beginning of. */
  readonly partial: readonly string[];
}

/** A record without masks, and without collections that are not whole: they would take away what is missing in them. */
export function clean(given: Json): Cleaned {
  const partial = Object.keys(given).flatMap((name) => NEXT_LINK.exec(name)?.[1] ?? []);
  const json: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === MASK || partial.includes(name)) continue;
    json[name] = Array.isArray(value) ? value.filter((each) => each !== MASK).map(cleanMember) : value;
  }
  return { json, partial };
}

function cleanMember(member: unknown): unknown {
  return isObject(member) ? clean(member).json : member;
}
