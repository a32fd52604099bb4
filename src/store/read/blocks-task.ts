/**
 * The steps that read a page whose blocks the caller caches: the changes since the caller's last snapshot, the records
 * of the ranges that it has not cached, and whether a record follows, all on one snapshot. Written once for every
 * engine; it does not know how blocks are cached.
 */
import type { BlocksPlan } from '../../compile/blocks-plan.ts';
import type { KeptRange } from '../../compile/read.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { type Deflated, deflatePart, deflatePartNow } from '../../shared/gzip-member.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import { type Changes, readChanges } from '../changes/change-follower.ts';
import type { Row } from '../session.ts';
import { type BodyContext, readBody } from './body-step.ts';
import type { Piece } from './linked-body.ts';
import type { OwnedBody } from './page-memory.ts';
import { requestStatement, type Steps } from './read-steps.ts';

/** Records per block: pages are a thirtieth larger than if deflated as a whole; with 16 records, a fifteenth. */
const RECORDS_PER_BLOCK = 32;

export interface ReadBlock extends KeptRange {
  /** The records that were read, joined by commas; absent if there are none, or if their texts are requested. */
  readonly deflated?: Deflated | Promise<Deflated>;
  /** The number of bytes of its records before compression. */
  readonly bytes: number;
  /** Hashes of the keys of the linked records whose values the block contains (`linkHash`). */
  readonly links: Uint32Array;
}

/** What is needed to make blocks. */
export interface BlocksContext extends BodyContext {
  readonly deflate: Deflate;
}

/** A page of blocks: the numbers of cached blocks, and the blocks that were read. */
export interface BlocksPage {
  /** The id of the settings with which the page was planned. */
  readonly stamp: string;
  readonly changes: Changes;
  readonly parts: readonly (number | ReadBlock)[];
  readonly rows: number;
  readonly last: string;
  readonly more: boolean;
  /** The texts of the blocks that were read, if they are requested, joined by commas; absent if there are none. */
  readonly body?: Uint8Array;
  /** As in `OwnedBody`. */
  readonly release?: () => void;
}

export function* blocksSteps(plan: BlocksPlan, context: BlocksContext): Steps<BlocksPage> {
  const { stamp, since, kept, limit } = plan;
  const from = { position: since };
  const { rows: seen } = yield* requestStatement({
    gives: 'rows',
    statement: plan.changes,
    slots: from,
    isKept: true,
  });
  const changes = readChanges(since, [...seen]);
  const page = { stamp, changes, rows: 0, last: plan.after, more: false };
  // Nothing in the cache can be used, so the page is planned again.
  if (changes.kind !== 'records' && kept.length > 0) return { ...page, parts: [] };
  const parts: (number | ReadBlock)[] = [];
  const texts: Partial<OwnedBody>[] = [];
  let left = limit;
  let reached = plan.after;
  let end = reached;
  for (const [index, range] of [...kept, undefined].entries()) {
    if (left === 0) break;
    const isGap = range === undefined || range.after !== reached;
    const blocks = isGap
      ? yield* readRange(plan, { making: context, texts }, reached, range?.after, left)
      : [];
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
    for (const block of yield* readRange(plan, { making: context, texts }, range.after, range.last, left)) {
      parts.push(block);
      left -= block.rows;
      end = block.lastKey;
    }
    break;
  }
  const read = { ...page, parts, rows: limit - left, last: end, ...joinTexts(texts, context) };
  if (left > 0) return read;
  const slots = { 'last-key': end };
  const [next] = (yield* requestStatement({ gives: 'rows', statement: plan.more, slots, isKept: true })).rows;
  return { ...read, more: next !== undefined };
}

/** Joins the texts of several ranges. */
function joinTexts(texts: readonly Partial<OwnedBody>[], { memory }: BodyContext): Partial<OwnedBody> {
  const [first] = texts;
  if (first === undefined || texts.length === 1) return first ?? {};
  const bodies = texts.map(({ body = EMPTY }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  const made = memory(bodies.reduce((sum, { length }) => sum + length, bodies.length - 1));
  let at = 0;
  for (const body of bodies) {
    if (at > 0) made.body[at++] = COMMA;
    at += body.copy(made.body, at);
  }
  for (const { release } of texts) release?.();
  return made;
}

/**
 * Reads the records of a range in blocks, up to a number of blocks. @param texts receives the texts of the range @param upTo
 * absent: to the end
 */
function* readRange(
  plan: BlocksPlan,
  { making, texts: kept }: { readonly making: BlocksContext; readonly texts: Partial<OwnedBody>[] },
  after: string,
  upTo: string | undefined,
  limit: number,
): Steps<readonly ReadBlock[]> {
  const statement = upTo === undefined ? plan.beyond : plan.within;
  const slots = { 'after-key': after, limit, ...(upTo === undefined ? {} : { 'up-to': upTo }) };
  const request = { gives: 'records', statement, slots, isKept: true } as const;
  const { given, marked } = yield* readBody(request, plan.linking, making);
  const { rows, body = EMPTY, release } = given;
  const records = [...rows].map(recordOf);
  // An empty range is cached as well.
  if (records.length === 0) return upTo === undefined || upTo === after ? [] : [emptyBlock(after, upTo)];
  const ranges: KeptRange[] = [];
  const ends: number[] = [];
  let begin = after;
  let end = -1;
  for (let first = 0; first < records.length; first += RECORDS_PER_BLOCK) {
    const found = records.slice(first, first + RECORDS_PER_BLOCK);
    const lastKey = found.at(-1)?.key ?? '';
    const isEnd = first + RECORDS_PER_BLOCK >= records.length && records.length < limit;
    const last = isEnd && upTo !== undefined ? upTo : lastKey;
    ranges.push({ after: begin, last, rows: found.length, lastKey });
    end = found.reduce((at, { size }) => at + 1 + size, end);
    ends.push(end);
    begin = last;
  }
  const texts = splitTexts(body, marked?.pieces(ends) ?? piecesBetween(ends));
  const blocks = texts.flatMap(({ text, links }, index): ReadBlock[] => {
    const range = ranges[index];
    if (range === undefined) return [];
    const deflated = plan.form === 'text' ? {} : { deflated: making.deflate(text) };
    return [{ ...range, ...deflated, bytes: text.length, links: Uint32Array.from(links) }];
  });
  if (plan.form === 'text') {
    kept.push({ body, release });
    return blocks;
  }
  if (release !== undefined) void Promise.allSettled(blocks.map(({ deflated }) => deflated)).then(release);
  return blocks;
}

const EMPTY = new Uint8Array(0);
const COMMA = 0x2c;

const emptyBlock = (after: string, last: string): ReadBlock => ({
  ...{ after, last, rows: 0, lastKey: '', bytes: 0 },
  links: new Uint32Array(0),
});

/** The parts of a body into which nothing was inserted. */
const piecesBetween = (ends: readonly number[]): readonly Piece[] =>
  ends.map((end, index) => ({ length: end - (ends[index - 1] ?? -1) - 1, links: NO_LINKS }));

const NO_LINKS: ReadonlySet<number> = new Set();

/** The parts of a body, which are separated by commas. @throws Damage if they are not */
function splitTexts(
  body: Uint8Array,
  pieces: readonly Piece[],
): readonly { readonly text: Uint8Array; readonly links: Piece['links'] }[] {
  let at = 0;
  const texts = pieces.map(({ length, links }) => {
    const text = body.subarray(at, at + length);
    at += length;
    if (text.length < length || (at < body.length && body[at++] !== COMMA)) throw new Damage(NOT_WHOLE);
    return { text, links };
  });
  if (at !== body.length) throw new Damage(NOT_WHOLE);
  return texts;
}

const NOT_WHOLE = 'a page does not consist of the texts of its records';

/** @throws DamagedRecord for a record without a text */
function recordOf({ k, size }: Row): { readonly key: string; readonly size: number } {
  if (typeof size === 'number') return { key: String(k), size };
  throw new DamagedRecord(`The record with the key ${String(k)}`);
}

type Deflate = (text: Uint8Array) => Deflated | Promise<Deflated>;

/** The level of pages that are compressed when sent, since the first client to walk a collection waits for it. */
const LEVEL = 2;
/** The number of texts that are compressed at once, each of which needs memory of its own. */
const AT_ONCE = 4;

export const deflateNow = (text: Uint8Array): Deflated => deflatePartNow(text, LEVEL);

export function makeQueuedDeflate(): Deflate {
  const queues = Array.from({ length: AT_ONCE }, () => new PromiseQueue());
  let next = 0;
  return (text) => {
    const queue = queues[next++ % AT_ONCE] ?? new PromiseQueue();
    return queue.run(() => deflatePart(text, LEVEL));
  };
}
