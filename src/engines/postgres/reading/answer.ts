import type { QueryConfig } from 'pg';
import type { Rest } from '../../../compile/read.ts';
import type { Row } from '../../../store/session.ts';
import type { BodyCheck } from '../../../store/whole/whole-bodies.ts';
import type { ServerSession } from '../connection/session.ts';
import { Portions } from './portions.ts';

/** The texts of a statement's rows, joined by commas (answer-sql.ts). */
interface Answer {
  /** What the first row tells of all; undefined without rows. */
  readonly first: Row | undefined;
  readonly body: Uint8Array;
  readonly rest?: Rest;
  readonly release?: () => void;
}

/** How an answer is read. */
export interface AnswerWish {
  /** Looks at each part before anybody gets it. */
  readonly check: BodyCheck;
  /** Whether the answer is read to its end before anybody gets any of it, since something may be wrong with it. */
  readonly whole: boolean;
}

const EMPTY = new Uint8Array(0);

/** Bytes of an answer that is read to its end at once, so that its connection is free before it is sent. */
const WHOLE = 512 * 1024;

/** Reads an answer: small ones to their end, of others the beginning. When it resolves, all texts are made. */
export async function readAnswer(
  session: ServerSession,
  statement: QueryConfig,
  { check, whole }: AnswerWish,
): Promise<Answer> {
  const portions = new Portions(session, statement, check);
  session.keep(portions);
  const body = await portions.next();
  const { first } = portions;
  if (body === undefined) return { first, body: EMPTY };
  const length = Number(first?.bytes) - 1 - body.length;
  if (length === 0) return { first, body };
  if (whole || length + body.length <= WHOLE) return { first, body: await readAll(portions, body) };
  const release = (): void => portions.leave();
  return { first, body, rest: { length, [Symbol.asyncIterator]: () => restOf(portions) }, release };
}

/** Reads an answer to its end, however large it is. */
export async function readWhole(
  session: ServerSession,
  statement: QueryConfig,
  { check }: AnswerWish,
): Promise<Uint8Array | undefined> {
  const portions = new Portions(session, statement, check);
  session.keep(portions);
  const body = await portions.next();
  return body === undefined ? undefined : readAll(portions, body);
}

async function readAll(portions: Portions, body: Buffer): Promise<Uint8Array> {
  const parts = [body];
  for (let part = await portions.next(); part !== undefined; part = await portions.next()) parts.push(part);
  return parts.length === 1 ? body : Buffer.concat(parts);
}

async function* restOf(portions: Portions): AsyncGenerator<Uint8Array> {
  try {
    for (let part = await portions.next(); part !== undefined; part = await portions.next()) yield part;
  } finally {
    portions.leave();
  }
}
