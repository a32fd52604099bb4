/** What is unreadable in a store, and how it is reported. */
import { messageOf } from '../shared/error-code.ts';

/** Reports unreadable data about the store itself. The message omits the store's name, which the caller adds. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/** Reports that a read would have returned a record that is known to be damaged. The rest of the store is intact. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
  /** Resource and key. */
  readonly record: string;

  constructor(record: string) {
    super(`${record} no longer matches what was written`);
    this.record = record;
  }
}

/** Explains a violated constraint of the engine: plat's own writes satisfy all constraints, so there must be unexpected rows. */
export function describeConflict(error: unknown): string {
  const message = messageOf(error);
  return `unexpected rows in its tables conflict with what is written (${message})`;
}

/**
 * Parses JSON that plat stores in its own rows.
 * @param what its name in the message: "its settings"
 * @throws Damage if the text is not JSON
 */
export function parseStoredJson(text: unknown, what: string): unknown {
  try {
    return JSON.parse(String(text));
  } catch (cause) {
    throw new Damage(`${what} are not valid JSON`, { cause });
  }
}

/** A list of texts in JSON. @throws Damage for anything else */
export function storedTexts(text: unknown, what: string): string[] {
  const list = parseStoredJson(text, what);
  if (!Array.isArray(list)) throw new Damage(`${what} are not a list`);
  return list.map(String);
}

/** Stands for a stored state of a source that is not JSON. No valid state has this shape, so every reader reports it. */
export class UnreadableState {}

/** Parses a row of a source's state. An unreadable row must not prevent others from being read, or itself from being replaced. */
export function parseSourceState(row: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(String(row.value));
  } catch {
    return new UnreadableState();
  }
}

export const NOT_A_LIST = 'a list column contains something else';

/** Parses the values of a multi-valued field from its column. @throws Damage if the text is not a list */
export function parseStoredList(text: string): string[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new Damage(NOT_A_LIST, { cause });
  }
  return Array.isArray(list) ? list.map(String) : [];
}
