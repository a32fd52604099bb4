/**
 * The steps that read a page of which the caller keeps blocks: what has changed since the caller last looked, the records of
 * the ranges that it does not keep, and whether a record follows, all on one snapshot. Once for every engine; it does not know
 * how blocks are kept.
 */
import type { BlocksPlan } from '../compile/blocks-plan.ts';
import type { KeptRange } from '../compile/read.ts';
import { DamagedRecord } from '../records/damage.ts';
import { type Changes, changesIn } from './change-follower.ts';
import { ask, type Steps } from './read-steps.ts';
import type { Row } from './session.ts';
import type { BodyCheck } from './whole/whole-bodies.ts';

/** Records of a block: so many cost a seventh more than a page that is deflated whole, and little where a page begins in one. */
const RECORDS = 16;

/** A block that was read. */
export interface ReadBlock extends KeptRange {
  /** Their texts, joined by commas. */
  readonly body: Uint8Array;
  /** Hashes of the keys of the records whose values are among theirs (`linkHash`). */
  readonly links: Uint32Array;
}

/** A page of blocks: of those that are kept by their number, and those that were read. */
export interface BlocksPage {
  /** Of the settings by which it was planned. */
  readonly stamp: string;
  readonly changes: Changes;
  readonly parts: readonly (number | ReadBlock)[];
  readonly rows: number;
  readonly last: string;
  readonly more: boolean;
}

/** A hash of the key of a record that another one includes values of. Two keys with the same hash count as one. */
export const linkHash = (resource: string, key: string): number => hashed(key, hashed(resource, OFFSET));

/** FNV-1a over the characters: a call of the engine's own would cost more than such short texts. */
function hashed(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash >>> 0;
}

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** @param check of the texts of a block */
export function* blocksPage(plan: BlocksPlan, check: BodyCheck): Steps<BlocksPage> {
  const { stamp, since, kept, limit } = plan;
  const { rows: seen } = yield* ask({ gives: 'rows', statement: plan.changes, slots: {}, isKept: true });
  const changes = changesIn(since, [...seen]);
  const page = { stamp, changes, rows: 0, last: plan.after, more: false };
  // None of what is kept can be used, so the page is planned anew.
  if (changes.kind !== 'records' && kept.length > 0) return { ...page, parts: [] };
  const parts: (number | ReadBlock)[] = [];
  let left = limit;
  let reached = plan.after;
  let end = reached;
  for (const [index, range] of [...kept, undefined].entries()) {
    if (left === 0) break;
    const isGap = range === undefined || range.after !== reached;
    const blocks = isGap ? yield* readRange(plan, check, reached, range?.after, left) : [];
    for (const block of blocks) {
      parts.push(block);
      left -= block.rows;
      if (block.rows > 0) end = block.lastKey;
    }
    if (range === undefined || left === 0) break;
    if (range.rows <= left) {
      parts.push(index);
      left -= range.rows;
      reached = range.last;
      if (range.rows > 0) end = range.lastKey;
      continue;
    }
    for (const block of yield* readRange(plan, check, range.after, range.last, left)) {
      parts.push(block);
      left -= block.rows;
      end = block.lastKey;
    }
    break;
  }
  const rows = limit - left;
  if (left > 0) return { ...page, parts, rows, last: end };
  const slots = { 'last-key': end };
  const [next] = (yield* ask({ gives: 'rows', statement: plan.more, slots, isKept: true })).rows;
  return { ...page, parts, rows, last: end, more: next !== undefined };
}

/** The records of a range in blocks, up to a number of them. @param upTo absent: to the end */
function* readRange(
  plan: BlocksPlan,
  check: BodyCheck,
  after: string,
  upTo: string | undefined,
  limit: number,
): Steps<readonly ReadBlock[]> {
  const statement = upTo === undefined ? plan.beyond : plan.within;
  const slots = { 'after-key': after, limit, ...(upTo === undefined ? {} : { 'up-to': upTo }) };
  const { rows } = yield* ask({ gives: 'records', statement, slots, isKept: true });
  const blocks: ReadBlock[] = [];
  let begin = after;
  let found: Row[] = [];
  let read = 0;
  const close = (last: string): void => {
    const lastKey = String(found.at(-1)?.k ?? '');
    blocks.push({ after: begin, last, rows: found.length, lastKey, ...contentOf(plan, found, check) });
    begin = last;
    found = [];
  };
  for (const row of rows) {
    found.push(row);
    read++;
    if (found.length === RECORDS) close(String(row.k));
  }
  const isEnd = read < limit;
  if (found.length > 0) close(isEnd && upTo !== undefined ? upTo : String(found.at(-1)?.k));
  // The rest of the range is known to be empty.
  else if (isEnd && upTo !== undefined && begin !== upTo) close(upTo);
  return blocks;
}

const COMMA = 0x2c;

function contentOf(
  { links }: BlocksPlan,
  rows: readonly Row[],
  check: BodyCheck,
): Pick<ReadBlock, 'body' | 'links'> {
  const texts = rows.map(({ k, x }) => textOf(k, x));
  const size = texts.reduce((sum, { length }) => sum + length + 1, 0);
  const body = new Uint8Array(Math.max(0, size - 1));
  let at = 0;
  for (const text of texts) {
    if (at > 0) body[at++] = COMMA;
    body.set(text, at);
    at += text.length;
  }
  if (rows.length > 0) check(body);
  const hashes = new Set<number>();
  for (const row of rows) {
    for (const [index, resource] of links.entries()) {
      const key = row[`l${index}`];
      if (typeof key === 'string') hashes.add(linkHash(resource, key));
    }
  }
  return { body, links: Uint32Array.from(hashes) };
}

/** @throws DamagedRecord for a record without a text */
function textOf(key: unknown, text: unknown): Uint8Array {
  if (text instanceof Uint8Array) return text;
  if (typeof text === 'string') return Buffer.from(text);
  throw new DamagedRecord(`The record with the key ${String(key)}`);
}
