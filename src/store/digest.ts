/**
 * Digests of ranges of records as a reader gets them, so that two stores can be compared without sending the records. It
 * reads pages like any other reader, once for every engine, and leaves out what two equal copies do not have in common:
 * a replica's own stamp, and the signatures in addresses of served files.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { REPLICA_STAMP } from '../dictionary/index.ts';
import type { Page, PageRequest, ResoShape } from './read.ts';
import type { ReadOptions, Store } from './store.ts';

/** Which bytes a digest is made of; one of another form says nothing of whether records are equal. */
export const DIGEST_FORM = 2;

/** What is told of the records of a range, with the members of their collections. */
export interface RangeDigest {
  readonly rows: number;
  /** The key of the last record; absent when there is none. */
  readonly last?: string;
  /** Members of the collections that were asked for, by the name of each. */
  readonly members: Readonly<Record<string, number>>;
  readonly digest: string;
  /** Whether records follow. */
  readonly more: boolean;
}

export interface DigestRequest extends Pick<PageRequest, 'position' | 'limit' | 'files'> {
  readonly query: PageRequest['query'];
  readonly expansions: ResoShape['expansions'];
}

/** Reads a page and tells its digest. */
export async function digestRange(
  store: Pick<Store, 'page'>,
  { query, position, limit, files, expansions }: DigestRequest,
  read: ReadOptions,
): Promise<RangeDigest> {
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: true, fields: [], hidden: [] },
    computed: [],
    expansions,
    omitNulls: true,
    ownOnly: true,
    annotateHidden: false,
    root: '/',
  };
  const page = await store.page({ query, position, limit, shape, files }, read);
  const hash = createHash('sha256');
  const members = expansions.map(({ name, query: { resource } }) => ({
    name,
    begin: Buffer.from(`{"${resource.key}":`),
    number: 0,
  }));
  try {
    const text = await whole(page);
    for (let at = 0; at < text.length; ) {
      const end = endOfPortion(text, at);
      const portion = text.subarray(at, end);
      countBegun(portion, members);
      for (const part of inCommon(portion)) hash.update(part);
      at = end;
      // A page is large: whoever else is served has a turn in between.
      await nextTurn();
    }
  } finally {
    page.release?.();
  }
  return {
    rows: page.rows,
    ...(page.last === undefined ? {} : { last: page.last.key }),
    members: Object.fromEntries(members.map(({ name, number }) => [name, number])),
    digest: hash.digest('base64url'),
    more: page.more,
  };
}

async function whole({ body, rest }: Page): Promise<Buffer> {
  if (rest === undefined) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const parts = [body];
  for await (const part of rest) parts.push(part);
  return Buffer.concat(parts);
}

/** Bytes that are taken at once. */
const PORTION = 2_000_000;
/** Between two members of a list; no text of a value holds it, since quotes in it are escaped. */
const BETWEEN = Buffer.from('},{"');

function endOfPortion(text: Buffer, at: number): number {
  if (text.length - at <= PORTION) return text.length;
  const found = text.indexOf(BETWEEN, at + PORTION);
  return found < 0 ? text.length : found + 2;
}

/** Counts objects by how they begin. A single byte is looked for several times as fast as a text. */
function countBegun(text: Buffer, members: { readonly begin: Buffer; number: number }[]): void {
  for (let at = text.indexOf(BRACE); at >= 0; at = text.indexOf(BRACE, at + 1)) {
    const member = members.find(
      ({ begin }) => text.compare(begin, 0, begin.length, at, at + begin.length) === 0,
    );
    if (member !== undefined) member.number++;
  }
}

const STAMP = Buffer.from(`,"${REPLICA_STAMP}":"`);
const SERVED = Buffer.from('/media/');
/** Of a signature: role, moment of expiry, and this many hexadecimal digits (file-signature.ts). */
const SIGNED = /^[^/"?#]+\.\d+\.[0-9a-f]{32}$/;
const LONGEST_SIGNATURE = 200;
const BRACE = 0x7b;
const QUOTE = 0x22;
const SLASH = 0x2f;
const DOT = 0x2e;
const DIGITS = 32;

/** The parts of a text that two equal copies have in common. */
function inCommon(text: Buffer): Buffer[] {
  const cuts: { from: number; to: number }[] = [];
  for (let at = text.indexOf(STAMP); at >= 0; ) {
    const end = text.indexOf(QUOTE, at + STAMP.length) + 1;
    cuts.push({ from: at, to: end });
    at = text.indexOf(STAMP, end);
  }
  for (let at = text.indexOf(SERVED); at >= 0; at = text.indexOf(SERVED, at + SERVED.length)) {
    const begin = at + SERVED.length;
    const end = text.indexOf(SLASH, begin);
    if (end < 0 || end - at > LONGEST_SIGNATURE || text[end - DIGITS - 1] !== DOT) continue;
    if (!SIGNED.test(text.toString('latin1', begin, end))) continue;
    // With the address of the service before it, which is that of whoever asked.
    cuts.push({ from: text.lastIndexOf(QUOTE, at) + 1, to: end });
  }
  cuts.sort((one, other) => one.from - other.from);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { from, to } of cuts) {
    if (from < at) continue;
    parts.push(text.subarray(at, from));
    at = to;
  }
  return [...parts, text.subarray(at)];
}
