/** The functions that plat's statements use and SQLite does not have. */
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import {
  castValue,
  endsWith,
  finiteNumber,
  hasWords,
  mapText,
  matches,
  numberText,
  secondsBetween,
  shift,
  substring,
  type Value,
  within,
} from '../../compile/functions.ts';
import { wordsOf } from '../../compile/search.ts';
import { fileSignature } from '../../store/file-signature.ts';

/** Thrown inside a statement whose time is up; ends it at the next row. */
export const DEADLINE_MESSAGE = 'plat: the time of this statement is up';

/** When the running statement has to end, on the clock of `performance.now()`. */
export interface Deadline {
  set(milliseconds: number): void;
  clear(): void;
}

/** The number of calls between two checks of the clock. */
const STRIDE = 8;

export function registerFunctions(database: DatabaseSync): Deadline {
  const pure = { deterministic: true };
  database.function('plat_lower', pure, (text: Value) => mapText(text, (given) => given.toLowerCase()));
  database.function('plat_upper', pure, (text: Value) => mapText(text, (given) => given.toUpperCase()));
  database.function('plat_ends_with', pure, endsWith);
  database.function('plat_substring', pure, substring);
  database.function('plat_matches', pure, matches);
  database.function('plat_within', pure, within);
  database.function('plat_has_words', pure, hasWords);
  database.function('plat_words', pure, (texts: Value) =>
    mapText(texts, (given) => wordsOf(given).join(' ')),
  );
  database.function('plat_sha256', pure, (text: Value) =>
    mapText(text, (given) => hash('sha256', given, 'base64url')),
  );
  database.function('plat_in_path', pure, (text: Value) => mapText(text, encodeURIComponent));
  database.function('plat_shift', pure, shift);
  database.function('plat_seconds', pure, secondsBetween);
  database.function('plat_cast', pure, castValue);
  database.function('plat_number_text', { ...pure, useBigIntArguments: true }, numberText);
  database.function('plat_number', { ...pure, useBigIntArguments: true }, finiteNumber);
  return registerDeadline(database);
}

/** Served files are signed with the store's secret, so only a connection that knows it can make their addresses. */
export function registerFileUrl(database: DatabaseSync, secret: string): void {
  database.function(
    'plat_file_url',
    { deterministic: true },
    (path: Value, role: Value, expires: Value, base: Value) => {
      if (typeof path !== 'string') return null;
      const signature = fileSignature(secret, String(role), Number(expires), path);
      return `${base}/media/${signature}/${encodeURI(path)}`;
    },
  );
}

function registerDeadline(database: DatabaseSync): Deadline {
  let end = Number.POSITIVE_INFINITY;
  let calls = 0;
  database.function('plat_deadline', () => {
    if (++calls % STRIDE === 0 && performance.now() > end) throw new Error(DEADLINE_MESSAGE);
    return 1;
  });
  return {
    set: (milliseconds) => {
      end = performance.now() + milliseconds;
    },
    clear: () => {
      end = Number.POSITIVE_INFINITY;
    },
  };
}
