/** The functions that plat's statements use and SQLite lacks. */
import type { DatabaseSync } from 'node:sqlite';
import { FUNCTIONS, NUMBER_FUNCTIONS } from '../../compile/functions.ts';
import { fileUrl } from '../../store/files/file-signature.ts';

/** The message of the error that ends a statement whose time is up. */
export const DEADLINE_MESSAGE = 'plat: the time of this statement is up';

/** The time at which the running statement must end, on the clock of `performance.now()`. */
export interface Deadline {
  end: number;
}

export function registerFunctions(database: DatabaseSync): Deadline {
  const pure = { deterministic: true };
  for (const [name, call] of Object.entries(FUNCTIONS)) database.function(name, pure, call);
  for (const [name, call] of Object.entries(NUMBER_FUNCTIONS)) {
    database.function(name, { ...pure, useBigIntArguments: true }, call);
  }
  const deadline = { end: Number.POSITIVE_INFINITY };
  database.function('plat_deadline', () => {
    if (performance.now() > deadline.end) throw new Error(DEADLINE_MESSAGE);
    return 1;
  });
  return deadline;
}

/** URLs of files are signed with the store's secret, so only a connection that knows it can create them. */
export const registerFileUrl = (database: DatabaseSync, secret: string): void =>
  database.function('plat_file_url', { deterministic: true }, fileUrl(secret));
