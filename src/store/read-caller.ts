/** For whom a store reads. It knows no keys: a name, and what the reader's owner wants to be asked and told. */

/** Records by key, pages, and searches, each apart from the others, so that what is dear never holds up what is not. */
export type Lane = 'records' | 'pages' | 'searches';

/** Whoever lets the store read; threads and connections are shared out fairly between the names. */
export interface ReadCaller {
  readonly name: string;
  /** Whether what is read is summed up, and none of it leaves. Absent: it leaves. */
  readonly sumsUp?: boolean;
  /** Asked just before a read begins, also when it has waited for its turn. @throws what it is refused with */
  begin(lane: Lane): void;
  /** Told of the memory of an answer, as soon as there is one. */
  made(bytes: number): void;
  /** Told how long a read has kept its thread or its connection, in milliseconds. */
  spent(lane: Lane, milliseconds: number): void;
}

/**
 * Whether a body leaves as it is, and so must be whole. An operator's `verify` and `check` are to see what is wrong with
 * one; one that is summed up differs from a whole one, and is read again as it is.
 */
export const isSent = (caller: ReadCaller | undefined): boolean =>
  caller !== undefined && caller.sumsUp !== true;
