import { type Inexact, parseExactly } from './exact-numbers.ts';
import type { RawRecord } from './record-reader.ts';
import { countMembers, repeatedMember } from './repeated-members.ts';

export type ReadJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Numbers that no double holds; in the value they are texts. */
      readonly inexact: readonly Inexact[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the JSON of a record. Of members with one name a parser would drop all but the last without a word, so these are
 * refused; numbers beyond a double are told.
 */
export function readJson({ text, counted }: Pick<RawRecord, 'text' | 'counted'>): ReadJson {
  let value: unknown;
  let inexact: readonly Inexact[] = [];
  try {
    if (counted?.hasLongNumbers === false) value = JSON.parse(text);
    else ({ value, inexact } = parseExactly(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: `The line is no JSON: ${why}` };
  }
  // Refused as soon as it is checked; to walk through it would have no end.
  if (counted === undefined || counted.isDeep) return { ok: true, value, inexact };
  if (countMembers(value) === counted.members) return { ok: true, value, inexact };
  return { ok: false, reason: `The record has the member ${repeatedMember(text) ?? ''} twice` };
}
