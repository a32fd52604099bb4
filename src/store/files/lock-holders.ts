/**
 * Determines which other processes have locks of a store: those that use its log without its file, because the file was
 * deleted or replaced while they had it open, and the one that writes. It reads Linux's list of locks. On other systems, and for
 * processes hidden by a container, nothing is known, so correctness must not depend on it.
 */
import { readFileSync, statSync } from 'node:fs';

const LOCKS = '/proc/locks';
/** The byte of a `-shm` that every process locks while it has the file open (UNIX_SHM_DMS). */
const SHARED = '128';
/** The byte that a process locks exclusively while it writes (WAL_WRITE_LOCK). */
const WRITING = '120';
/** Such a process locks its file first and unlocks it last, but the list of locks is not read atomically. */
const LOOKS = 3;

/** @returns one such process; undefined if none is known */
export function processWithoutFile(path: string): number | undefined {
  let found: number | undefined;
  for (let look = 0; look < LOOKS; look++) {
    found = lookOnce(path);
    if (found === undefined) return undefined;
  }
  return found;
}

function lookOnce(path: string): number | undefined {
  const [log, file] = [identityOf(`${path}-shm`), identityOf(path)];
  if (log === undefined) return undefined;
  const locks = readLocks();
  const holders = new Set(locks.filter((lock) => lock.file === file).map((lock) => lock.process));
  return locks.find((lock) => lock.file === log && lock.first === SHARED && !holders.has(lock.process))
    ?.process;
}

/** The other process that has the write lock of a store, in words; null if none is known. */
export function describeWriter(path: string): string | null {
  const log = identityOf(`${path}-shm`);
  const isWriting = ({ file, first, isExclusive }: Lock): boolean =>
    file === log && first === WRITING && isExclusive;
  const writer = readLocks().find((lock) => isWriting(lock) && lock.process !== process.pid);
  return writer === undefined ? null : `Process ${writer.process}`;
}

interface Lock {
  readonly process: number;
  /** Device and inode. */
  readonly file: string;
  readonly first: string;
  readonly isExclusive: boolean;
}

function readLocks(): Lock[] {
  let text: string;
  try {
    text = readFileSync(LOCKS, 'utf8');
  } catch {
    return [];
  }
  // "1: POSIX  ADVISORY  READ 28432 00:1b:4004424 128 128"
  return text.split('\n').flatMap((line) => {
    const [, kind, , mode, process, file, first] = line.split(/\s+/);
    return kind === 'POSIX' && file !== undefined && first !== undefined && Number(process) > 0
      ? [{ process: Number(process), file, first, isExclusive: mode === 'WRITE' }]
      : [];
  });
}

/** A file as the list of locks identifies it. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { dev, ino } = found;
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  const hex = (part: bigint): string => part.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${ino}`;
}
