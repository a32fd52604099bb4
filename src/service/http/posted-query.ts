/**
 * Queries that are too long for a URL. They arrive in the body of a POST request, and the next links of their pages contain them in
 * compressed form, because clients follow a link with GET. Such a link is complete: the service stores nothing for it, and every
 * process can answer it at any time.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { malformedError, platError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

/** The longest URL that the service accepts, in bytes. */
export const LONGEST_URL = 16_384;
/** The longest query in a body, in bytes: the limit of values (`query/odata/option-text.ts`), percent-encoded. */
const LONGEST_QUERY = 393_216;
/** A URL length, in bytes, that every server and proxy accepts. */
const USUAL_URL = 2048;

const PACKED = 'plat.query';
const TYPES: ReadonlySet<string> = new Set(['', 'text/plain', 'application/x-www-form-urlencoded']);
const CHARSETS = /^"?(?:utf-?8|us-ascii)"?$/i;

/** The exchange with the query options of its body added to those of its URL (OData 4.01 URL conventions, 4.17). */
export async function withPostedQuery(exchange: Exchange): Promise<Exchange> {
  const { headers, query, account } = exchange;
  if (headers['content-length'] === '0') return { ...exchange, isPosted: true };
  checkType(headers['content-type'] ?? '', headers['content-encoding'] ?? '');
  const body = await exchange.body(LONGEST_QUERY);
  account.setHeldBytes(body.length);
  const posted = percentEncode(textOf(body).trim());
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
    throw malformedError('the body is not valid UTF-8', { cause });
  }
}

/** Percent-encodes the characters that no URL may contain: many clients send a body with plain spaces and quotes. */
const percentEncode = (query: string): string =>
  query.replace(/[^\x21-\x7e]|["#<>\\^`{|}]/gu, (character) => encodeURIComponent(character));

/** The exchange with the compressed query of its link expanded. @throws PlatError `optionInvalid` if it cannot be expanded */
export function withUnpackedQuery(exchange: Exchange): Exchange {
  const { query } = exchange;
  if (!query.includes(`${PACKED}=`)) return exchange;
  const pairs = query.split('&');
  const [packed, ...more] = pairs.filter((pair) => pair.startsWith(`${PACKED}=`));
  if (packed === undefined) return exchange;
  // Each compressed query may expand to the size of the largest body, so only one is accepted.
  if (more.length > 0) throw platError('optionRepeated', { name: PACKED }, { target: PACKED });
  const others = pairs.filter((pair) => pair !== packed);
  return { ...exchange, query: [unpackQuery(packed), ...others].join('&'), isPosted: true };
}

function unpackQuery(pair: string): string {
  const value = pair.slice(PACKED.length + 1);
  try {
    const bytes = Buffer.from(value, 'base64url');
    return percentEncode(textOf(inflateRawSync(bytes, { maxOutputLength: LONGEST_QUERY })));
  } catch (cause) {
    const facts = { name: PACKED, value: value.slice(0, 40), expected: 'the value from a link, unchanged' };
    throw platError('optionInvalid', facts, { target: PACKED, cause });
  }
}

/**
 * The query of a link to the next page.
 * @param otherBytes the length of the link without the query, in bytes
 * @throws PlatError `linkTooLong` if the query does not fit into a link: without a link, the client would miss rows without
 * noticing
 */
export function linkQuery(
  { query, isPosted }: Pick<Exchange, 'query' | 'isPosted'>,
  kept: readonly string[],
  otherBytes: number,
): string {
  const plain = kept.join('&');
  const length = otherBytes + plain.length;
  if (length <= (isPosted === true ? USUAL_URL : LONGEST_URL)) return plain;
  const packed = `${PACKED}=${deflateRawSync(plain, { level: 9 }).toString('base64url')}`;
  const shorter = packed.length < plain.length ? packed : plain;
  if (otherBytes + shorter.length > LONGEST_URL) {
    throw platError('linkTooLong', { length: query.length, limit: LONGEST_URL });
  }
  return shorter;
}
