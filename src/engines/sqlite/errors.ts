import { closeSync, openSync, readSync } from 'node:fs';
import { PlatError, platError } from '../../errors/index.ts';
import { Damage, DamagedRecord, inTheWay } from '../../records/damage.ts';
import { BEGINNING, kindOf } from '../../shared/file-kind.ts';
import { denied } from '../../store/files/store-file.ts';
import { LARGEST_ANSWER } from '../../store/read-task.ts';
import { DEADLINE_MESSAGE, RANGE_MESSAGE } from './functions.ts';

/** SQLite's primary result codes that users can meet. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const FULL = 13;
const CANNOT_OPEN = 14;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
const CORRUPT = 11;
const READ_ONLY = 8;
const IO_ERROR = 10;
/** SQLITE_IOERR_SHORT_READ: the file ends before what it should hold. */
const SHORT_READ = 522;

/** What node:sqlite says of an integer beyond 2^53. Whether a request can lead to one is not known, so it is no `damageIn`. */
const BEYOND_NUMBERS = 'too large to be represented as a JavaScript number';

/** No statement of plat names a table or column that its tables should not have. */
const isMissing = (error: unknown): error is Error =>
  error instanceof Error && /^no such (?:column|table): /.test(error.message);

/** What SQLite says of a header that names a form of the schema that it never wrote. */
const isUnknownForm = (error: unknown): boolean =>
  error instanceof Error && error.message === 'unsupported file format';

const HEADER = 'the header of its file is not as SQLite writes it';

/** What only a damaged file answers; undefined for any other error. */
export function damageIn(error: unknown): string | undefined {
  if (error instanceof Damage) return error.message;
  if (error instanceof PlatError) return error.code === 'storeDamaged' ? damageIn(error.cause) : undefined;
  switch (resultCode(error)) {
    case CORRUPT:
      return 'a page of its file is not as SQLite writes it';
    case NOT_A_DATABASE:
      return HEADER;
    case ERROR:
      if (isMissing(error)) return `there is ${error.message}`;
      return isUnknownForm(error) ? HEADER : undefined;
    case IO_ERROR:
      return fullCode(error) === SHORT_READ ? 'its file ends too early' : 'the disk gives an I/O error';
    default:
      return undefined;
  }
}

function fullCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function resultCode(error: unknown): number | undefined {
  const code = fullCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Why the engine cannot hold a record. */
export const refusalIn = (error: unknown): string | undefined =>
  resultCode(error) === TOO_BIG ? 'The store cannot hold it: a text is too long' : undefined;

export const isBusy = (error: unknown): boolean => {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
};

export function isDeadline(error: unknown): boolean {
  return error instanceof Error && error.message.includes(DEADLINE_MESSAGE);
}

/** Turns what the engine throws into what a user is told; anything unknown stays as it is. */
export function translateError(error: unknown, store: string, seconds: number): unknown {
  if (error instanceof PlatError) return error;
  if (error instanceof DamagedRecord) {
    return platError('storeDamaged', { store, reason: error.message }, { cause: error });
  }
  if (isDeadline(error)) return platError('queryTimedOut', { seconds }, { cause: error });
  if (error instanceof Error && error.message.includes(RANGE_MESSAGE)) {
    return platError(
      'usage',
      { reason: 'A number of the query leaves the range of numbers.' },
      { cause: error },
    );
  }
  if (error instanceof Error && error.message.includes(BEYOND_NUMBERS)) {
    const reason = 'a column holds a number that plat never writes';
    return platError('storeDamaged', { store, reason }, { cause: error });
  }
  switch (resultCode(error)) {
    case ERROR:
      return damaged(error, store);
    case BUSY:
    case LOCKED:
      return platError('storeBusy', { store }, { cause: error, retryAfter: 1 });
    case FULL:
      return platError('storeFull', { store }, { cause: error });
    case TOO_BIG:
      return platError('answerTooLarge', { megabytes: LARGEST_ANSWER }, { cause: error });
    case CONSTRAINT:
      return platError('storeDamaged', { store, reason: inTheWay(error) }, { cause: error });
    case READ_ONLY:
    case CANNOT_OPEN:
      return denied(store) ?? platError('storeUnavailable', {}, { cause: error });
    case NOT_A_DATABASE:
      return platError('storeNotOurs', { store, reason: whatItIs(store) }, { cause: error });
    default:
      return damaged(error, store);
  }
}

/** What a file is that is no database, as far as its first bytes tell. */
function whatItIs(path: string): string {
  const into = `"plat import --store market.db ${path}" stores what is in it`;
  const found = kindOf(beginningOf(path));
  switch (found.kind) {
    case 'json':
      return `it is JSON; ${into}`;
    case 'table':
      return `it is a table (${found.header}…); ${into}`;
    case 'gzip':
      return `it is packed by gzip; "gzip -dc ${path}" unpacks it, and where records are in it, ${into}`;
    case 'foreign':
      return `it is ${found.what}`;
    case 'sqlite': // its header says so, and what follows does not
    case 'unknown':
      return 'it is no SQLite database';
  }
}

function beginningOf(path: string): Buffer {
  const bytes = Buffer.alloc(BEGINNING);
  try {
    const descriptor = openSync(path, 'r');
    try {
      return bytes.subarray(0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0); // it is gone, or a folder: nothing is known of it
  }
}

/** Codes by which the operating system refuses a file. */
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR']);

const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && REFUSED.has(String(error.code));

function damaged(error: unknown, store: string): unknown {
  if (isRefused(error)) return denied(store) ?? error;
  const reason = damageIn(error);
  return reason === undefined ? error : platError('storeDamaged', { store, reason }, { cause: error });
}
