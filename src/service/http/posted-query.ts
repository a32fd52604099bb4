/**
 * Queries that are longer than an address may be: they come in the body of a POST, and continue in links that contain them
 * compressed, because a link is followed by GET. A compressed query is complete, so the service remembers nothing for a link,
 * and every process can answer it at any time.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { platError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

/** Longest URL that is read, in bytes. */
export const LONGEST_URL = 16_384;
/** Longest query that a body holds, in bytes: what values may come to (`query/odata/option-text.ts`), percent-encoded. */
const LONGEST_QUERY = 393_216;
/** Bytes of an address that every server and proxy on the way takes. */
const USUAL_URL = 2048;

const PACKED = 'plat.query';
const TYPES: ReadonlySet<string> = new Set(['', 'text/plain', 'application/x-www-form-urlencoded']);
const CHARSETS = /^"?(?:utf-?8|us-ascii)"?$/i;

/** The exchange with the options that came in its body beside those of its address (OData 4.01 URL conventions, 4.17). */
export async function withPostedQuery(exchange: Exchange): Promise<Exchange> {
  const { headers, query, account } = exchange;
  if (headers['content-length'] === '0') return { ...exchange, isPosted: true };
  checkType(headers['content-type'] ?? '', headers['content-encoding'] ?? '');
  const body = await exchange.body(LONGEST_QUERY);
  account.holds(body.length);
  const posted = inUrlForm(textOf(body).trim());
  return { ...exchange, query: [query, posted].filter((each) => each !== '').join('&'), isPosted: true };
}

function checkType(type: string, encoding: string): void {
  const [name = '', ...parameters] = type.split(';').map((each) => each.trim());
  const charset = parameters.find((each) => /^charset=/i.test(each))?.slice('charset='.length);
  const isRead = TYPES.has(name.toLowerCase()) && (charset === undefined || CHARSETS.test(charset));
  if (!isRead) throw platError('mediaTypeUnsupported', { given: type });
  if (!/^(?:identity)?$/i.test(encoding.trim())) {
    throw platError('mediaTypeUnsupported', { given: `the encoding ${encoding}` });
  }
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw platError('requestMalformed', { reason: 'the body is not valid UTF-8' }, { cause });
  }
}

/** Encodes what no address may contain: many clients write a body with plain spaces and quotes. */
const inUrlForm = (query: string): string =>
  query.replace(/[^\x21-\x7e]|["#<>\\^`{|}]/gu, (character) => encodeURIComponent(character));

/** The exchange with the query that a link contains compressed. @throws PlatError `optionInvalid` for another text */
export function withUnpackedQuery(exchange: Exchange): Exchange {
  const { query } = exchange;
  if (!query.includes(`${PACKED}=`)) return exchange;
  const pairs = query.split('&');
  const [packed, ...more] = pairs.filter((pair) => pair.startsWith(`${PACKED}=`));
  if (packed === undefined) return exchange;
  // Each may decompress to as much as a body may hold.
  if (more.length > 0) throw platError('optionRepeated', { name: PACKED }, { target: PACKED });
  const others = pairs.filter((pair) => pair !== packed);
  return { ...exchange, query: [unpacked(packed), ...others].join('&'), isPosted: true };
}

function unpacked(pair: string): string {
  const value = pair.slice(PACKED.length + 1);
  try {
    const bytes = Buffer.from(value, 'base64url');
    return inUrlForm(textOf(inflateRawSync(bytes, { maxOutputLength: LONGEST_QUERY })));
  } catch (cause) {
    const facts = { name: PACKED, value: value.slice(0, 40), expected: 'what a link gave, as it is' };
    throw platError('optionInvalid', facts, { target: PACKED, cause });
  }
}

/**
 * The query of a link to the next page.
 * @param room bytes of the link beside it
 * @throws PlatError `linkTooLong` where no link can hold it: rows would be lost silently
 */
export function linkQuery(
  { query, isPosted }: Pick<Exchange, 'query' | 'isPosted'>,
  kept: readonly string[],
  room: number,
): string {
  const plain = kept.join('&');
  const length = room + plain.length;
  if (length <= (isPosted === true ? USUAL_URL : LONGEST_URL)) return plain;
  const packed = `${PACKED}=${deflateRawSync(plain, { level: 9 }).toString('base64url')}`;
  const shorter = packed.length < plain.length ? packed : plain;
  if (room + shorter.length > LONGEST_URL) {
    throw platError('linkTooLong', { length: query.length, limit: LONGEST_URL });
  }
  return shorter;
}
