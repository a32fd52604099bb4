/** What the errors of SQLite mean. */
import { DEADLINE_MESSAGE, MEMORY_MESSAGE, RANGE_MESSAGE } from '../../compile/functions.ts';
import { NOT_A_LIST } from '../../records/damage.ts';
import { codeOf, messageOf, sqliteCodeOf } from '../../shared/error-code.ts';
import { damageOf, explainError, type Trouble } from '../../store/explain.ts';
import { describeWriter } from '../../store/files/lock-holders.ts';
import { accessError, describeFile } from '../../store/files/store-file.ts';

/** A client may retry after some seconds, with the next process. */
const CLOSED: Trouble = { kind: 'unavailable', retryAfter: 5 };

const damaged = (reason: string): Trouble => ({ kind: 'damaged', reason });
const UNWRITTEN = damaged('a column contains a value that plat never writes');
const HEADER = damaged('the header of its file is not as SQLite writes it');
const NOT_A_DATABASE = 26;

/**
 * The meaning of messages of SQLite and node:sqlite, wherever they occur in the text of an error. `damageIn` does not include
 * values that plat never writes, since it is unknown whether a request can cause one; requests contain no JSON.
 */
const MESSAGES: readonly (readonly [text: string, trouble: Trouble])[] = [
  [DEADLINE_MESSAGE, { kind: 'timed-out' }],
  [MEMORY_MESSAGE, { kind: 'too-much-memory' }],
  [RANGE_MESSAGE, { kind: 'out-of-range' }],
  ['database is not open', CLOSED], // this process has closed the store
  ['statement has been finalized', CLOSED],
  ['too large to be represented as a JavaScript number', UNWRITTEN],
  ['malformed JSON', damaged(NOT_A_LIST)],
  ['JSON cannot hold BLOB values', UNWRITTEN],
];

/** No statement of plat names a table or column that its tables should not have. */
export const isMissing = (error: unknown): error is Error =>
  error instanceof Error && /^no such (?:column|(?:fts5 )?table): /.test(error.message);

/** The meaning of result codes. An extended code takes precedence over the primary one that it contains. */
const TROUBLES: ReadonlyMap<unknown, Trouble> = new Map([
  [5, { kind: 'busy' }], // SQLITE_BUSY
  [6, { kind: 'busy' }], // SQLITE_LOCKED
  [10, damaged('the disk reports an I/O error')], // SQLITE_IOERR
  [522, damaged('its file ends too early')], // SQLITE_IOERR_SHORT_READ
  [4874, { kind: 'full' }], // SQLITE_IOERR_SHMSIZE: the shared memory of a log, which every connection needs, has no room
  [11, damaged('a page of its file is not as SQLite writes it')], // SQLITE_CORRUPT
  [13, { kind: 'full' }], // SQLITE_FULL
  [18, { kind: 'too-large' }], // SQLITE_TOOBIG
  [19, { kind: 'in-the-way' }], // SQLITE_CONSTRAINT
  [NOT_A_DATABASE, HEADER],
]);

const ofCode = (error: unknown): Trouble | undefined =>
  TROUBLES.get(sqliteCodeOf(error)) ?? TROUBLES.get(sqliteCodeOf(error) & 0xff);

/** The damage that an error of SQLite reports; undefined for any other error. */
export const damageIn = (error: unknown): string | undefined =>
  damageOf(error, (own) => {
    if (isMissing(own)) return `there is ${own.message}`;
    // The header names a schema format that SQLite never wrote.
    const trouble = messageOf(own) === 'unsupported file format' ? HEADER : ofCode(own);
    return trouble?.kind === 'damaged' ? trouble.reason : undefined;
  });

/** Explains why SQLite cannot store a record. */
export const refusalOf = (error: unknown): string | undefined =>
  ofCode(error)?.kind === 'too-large' ? 'The store cannot hold it: a text is too long' : undefined;

export const isBusy = (error: unknown): boolean => ofCode(error)?.kind === 'busy';

/** Translates SQLite's error for the user; an unknown one is returned unchanged. */
export const translateError = (error: unknown, store: string, seconds: number): unknown =>
  explainError(error, { store, seconds, holder: () => describeWriter(store) }, (own) =>
    troubleIn(own, store),
  );

function troubleIn(error: unknown, store: string): Trouble | undefined {
  const says = messageOf(error);
  const code = sqliteCodeOf(error) & 0xff;
  const meant = MESSAGES.find(([text]) => says.includes(text))?.[1];
  if (meant !== undefined) return meant;
  if (code === NOT_A_DATABASE) return { kind: 'not-ours', reason: describeFile(store) };
  if (code === 8 || code === 14) return accessTrouble(store) ?? { kind: 'unavailable' }; // SQLITE_READONLY, SQLITE_CANTOPEN
  if (REFUSED.has(codeOf(error) ?? '')) return accessTrouble(store);
  const reason = damageIn(error);
  return reason === undefined ? ofCode(error) : damaged(reason);
}

function accessTrouble(store: string): Trouble | undefined {
  const error = accessError(store);
  return error && { kind: 'error', error };
}

/** Codes with which the operating system refuses access to a file. */
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR']);
