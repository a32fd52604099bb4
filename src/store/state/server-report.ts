/** What a server reports of the store and itself in a row of a statement that reads: all in one snapshot. */
import type { Row } from '../session.ts';
import type { ClockReading } from '../time/store-clock.ts';
import { Meta, mustBeReadable, type StoredState, storedStateOf } from './meta.ts';

export interface ServerReport {
  readonly state: StoredState;
  /** The last stored reading of the clock. */
  readonly reading: ClockReading | undefined;
  /** The server's clock in milliseconds since 1970. */
  readonly clock: number;
  /** Whether the server is a standby. */
  readonly follows: boolean;
  /** The row of the key as JSON; null if no key has the hash, or none was requested. */
  readonly key: string | null;
}

/** The last state that was parsed: the next text is nearly always the same. */
let last:
  | { readonly text: string; readonly state: StoredState; readonly reading: ServerReport['reading'] }
  | undefined;

/** @param row with `state`, the rows of `plat_meta` as a JSON object, `clock`, `follows` and `key` @throws LayoutTooNew */
export function parseReport(row: Row | undefined): ServerReport {
  const text = String(row?.state ?? '{}');
  if (last?.text !== text) {
    const values: Readonly<Record<string, unknown>> = JSON.parse(text);
    const meta = new Meta(Object.entries(values).map(([name, value]) => ({ name, value })));
    mustBeReadable(meta);
    last = { text, state: storedStateOf(meta), reading: meta.clockReading };
  }
  const { state, reading } = last;
  const key = typeof row?.key === 'string' ? row.key : null;
  return { state, reading, clock: Number(row?.clock), follows: row?.follows === true, key };
}
