/**
 * Digests of ranges of records as a reader receives them, so that two stores can be compared without sending the records. This
 * module reads pages like any other reader, and omits what legitimately differs between two equal copies: a replica's own
 * timestamp, and the base URL and signature of files that the source itself serves.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PageRequest, plainShape, type ResoShape } from '../compile/read.ts';
import { REPLICA_TIMESTAMP } from '../dictionary/index.ts';
import { SELECT_ALL } from '../query/request.ts';
import type { ReadOptions, Store } from './store.ts';

/** The version of the digest's input. Digests of different versions cannot be compared. */
export const DIGEST_FORM = 3;

/** The digest of a range of records, with the members of their collections. */
export interface RangeDigest {
  readonly rows: number;
  /** The key of the last record; absent when there is none. */
  readonly last?: string;
  /** Members of the requested collections, by name. */
  readonly members: Readonly<Record<string, number>>;
  readonly digest: string;
  /** Whether records follow. */
  readonly more: boolean;
}

interface DigestRequest extends Pick<PageRequest, 'position' | 'limit' | 'files'> {
  readonly query: PageRequest['query'];
  readonly expansions: ResoShape['expansions'];
}

/** Reads a page and computes its digest. */
export async function digestRange(
  store: Pick<Store, 'page'>,
  { query, position, limit, files, expansions }: DigestRequest,
  read: ReadOptions,
): Promise<RangeDigest> {
  const own = { selection: SELECT_ALL, expansions, omitNulls: true, ownOnly: true };
  const shape = { ...plainShape([], '/'), ...own };
  const page = await store.page({ query, position, limit, shape, files }, read);
  const { body } = page;
  const hash = createHash('sha256');
  const members = expansions.map(({ name, query: { resource } }) => ({
    name,
    begin: Buffer.from(`{"${resource.key}":`),
    number: 0,
  }));
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    for (let at = 0; at < text.length; ) {
      const end = endOfPortion(text, at);
      const portion = text.subarray(at, end);
      countObjects(portion, members);
      for (const part of sharedParts(portion, files.base)) hash.update(part);
      at = end;
      // A page is large, so other requests are processed in between.
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

/** Bytes that are processed at once. */
const PORTION = 2_000_000;
/** Separates two members of a list. No value contains it, since quotes are escaped. */
const MEMBER_SEPARATOR = Buffer.from('},{"');

function endOfPortion(text: Buffer, at: number): number {
  if (text.length - at <= PORTION) return text.length;
  const found = text.indexOf(MEMBER_SEPARATOR, at + PORTION);
  return found < 0 ? text.length : found + 2;
}

/** Counts objects by their first bytes. Searching for a single byte is several times as fast as searching for a text. */
function countObjects(text: Buffer, members: { readonly begin: Buffer; number: number }[]): void {
  for (let at = text.indexOf(BRACE); at >= 0; at = text.indexOf(BRACE, at + 1)) {
    const member = members.find(
      ({ begin }) => text.compare(begin, 0, begin.length, at, at + begin.length) === 0,
    );
    if (member !== undefined) member.number++;
  }
}

const TIMESTAMP_MEMBER = Buffer.from(`,"${REPLICA_TIMESTAMP}":"`);
const ADDRESS = Buffer.from('"MediaURL":"');
/** The URL of a served file up to its path: the signature consists of role, expiry and 32 digits (files/file-signature.ts). */
const SIGNED = /^([^?#]*?)\/media\/[^/?#]+\.\d+\.[0-9a-f]{32}(?=\/)/;
const BRACE = 0x7b;
const QUOTE = 0x22;

/**
 * The parts of a text that are the same in two equal copies.
 * @param base the base URL of the store's own files; empty in a copy, where they are those of its source
 */
function sharedParts(text: Buffer, base: string): Buffer[] {
  const cuts: { from: number; to: number }[] = [];
  for (let at = text.indexOf(TIMESTAMP_MEMBER); at >= 0; ) {
    const end = text.indexOf(QUOTE, at + TIMESTAMP_MEMBER.length) + 1;
    cuts.push({ from: at, to: end });
    at = text.indexOf(TIMESTAMP_MEMBER, end);
  }
  for (let at = text.indexOf(ADDRESS); at >= 0; at = text.indexOf(ADDRESS, at + ADDRESS.length)) {
    const from = at + ADDRESS.length;
    const [signed, of] = SIGNED.exec(text.toString('latin1', from, text.indexOf(QUOTE, from))) ?? [];
    // The URL of another server stays unchanged.
    if (signed !== undefined && (base === '' || of === base)) cuts.push({ from, to: from + signed.length });
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
