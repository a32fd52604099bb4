import { parseExactly } from './exact-numbers.ts';
import type { RawRecord } from './record-reader.ts';
import { countMembers, repeatedMember } from './repeated-members.ts';

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the JSON of a record. What a parser would change without a word is refused: numbers beyond a double, and all but
 * the last of members with one name.
 */
export function readJson({ text, counted }: Pick<RawRecord, 'text' | 'counted'>): ReadJson {
  let value: unknown;
  try {
    if (counted?.hasLongNumbers === false) value = JSON.parse(text);
    else {
      const read = parseExactly(text);
      if (read.inexact.length > 0) return { ok: false, reason: read.inexact.join('; ') };
      value = read.value;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: `The line is no JSON: ${why}` };
  }
  // Refused as soon as it is checked; to walk through it would have no end.
  if (counted === undefined || counted.isDeep) return { ok: true, value };
  if (countMembers(value) === counted.members) return { ok: true, value };
  return { ok: false, reason: `The record has the member ${repeatedMember(text) ?? ''} twice` };
}
