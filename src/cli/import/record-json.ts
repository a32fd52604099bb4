/**
 * Parses the JSON of a record without losing anything that a plain parser would drop silently: duplicate members, and
 * digits that a double cannot represent. This module knows nothing of fields.
 */
import { countMembers, parseExactly, repeatedMembers } from '../../records/exact-json.ts';
import { messageOf } from '../../shared/error-code.ts';

/** The text of a record in a file, or of whatever is in its place, and the line where it begins, from 1. */
export interface RawRecord {
  readonly line: number;
  readonly text: string;
  /** Why the record cannot be read. `text` is then as much of it as is known, or its bytes as Latin-1. */
  readonly fault?: string;
  /** The resource that the file names for the record, if there is no such resource, or if the command names another one. */
  readonly of?: string;
  /** What the scanner counted in the text, if it found the end of the record. */
  readonly counted?: Counted;
  /** Whether the record is a row of a table, whose values are all texts, under the names of fields. */
  readonly isRow?: true;
}

/** The member that the rejected file has instead of a record, for a text that is not one. */
export const REJECTED_TEXT = '@plat.text';

interface Counted {
  /** The number of members of the record and of all objects in it. */
  readonly members: number;
  readonly hasLongNumbers: boolean;
  /** Whether the record is nested more deeply than any record of the dictionary can be. */
  readonly isDeep: boolean;
}

type RecordJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

export function parseRecordJson({ text, counted }: Pick<RawRecord, 'text' | 'counted'>): RecordJson {
  let value: unknown;
  try {
    value = counted?.hasLongNumbers === false ? JSON.parse(text) : parseExactly(text);
  } catch (error) {
    const why = messageOf(error);
    return { ok: false, reason: `The line is not JSON: ${why}` };
  }
  // Validation rejects deep nesting; traversing it here could exhaust the stack.
  if (counted === undefined || counted.isDeep) return { ok: true, value };
  if (countMembers(value) === counted.members) return { ok: true, value };
  return { ok: false, reason: `The record has the member ${repeatedMember(text) ?? ''} twice` };
}

/**
 * Parses the JSON of a configuration, where a duplicate member would be dropped silently.
 * @throws SyntaxError also for a duplicate member
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw new SyntaxError(`the member ${repeated} occurs twice in an object`);
  return value;
}

/** The first duplicate member of an object. @param text valid JSON */
export function repeatedMember(text: string): string | undefined {
  for (const { name } of repeatedMembers(text)) return name;
  return undefined;
}
