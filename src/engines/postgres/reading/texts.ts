/**
 * Reads all texts of a statement's rows into the bytes of a body, so that the connection is free before any of them is sent. The
 * only part of a text that this module knows are the marks of links.
 */
import { LINK_MARK } from '../../../compile/text/linked-texts.ts';
import { GrowingBody } from '../../../store/read/growing-body.ts';
import type { OwnedBody } from '../../../store/read/page-memory.ts';
import type { Links } from '../../../store/read/read-steps.ts';
import { type SentStatement, type ServerSession, send } from '../connection/session.ts';

/** The texts of rows, joined by commas; without a body if there are none. */
interface Texts extends Partial<OwnedBody> {
  readonly rows: number;
  /** The key of the last row, if rows have keys. */
  readonly last?: string;
  /** Whether there was a row beyond the limit. */
  readonly more: boolean;
  /** The positions of the commas between the texts of the body. */
  readonly commas: readonly number[];
}

const MARK = LINK_MARK.charCodeAt(0);
const BARE_MARK = Buffer.from(LINK_MARK);

interface TextsOptions {
  /** The maximum number of rows; a further row shows that more follow, and its text is omitted. */
  readonly limit?: number | undefined;
  /** Receives the text of the first row, which is not part of the body. */
  readonly before?: ((text: string) => void) | undefined;
  /** Called for each row of the body with its key and, if it has a text, the size of the text in bytes. */
  readonly each?: (key: string | null, size: number | undefined) => void;
  /** As in `StatementRequest`. */
  readonly links?: Links | undefined;
}

/** The values of a row, one after another. */
class Values {
  readonly bytes: Buffer;
  /** The position of the next value. */
  at: number;
  /** The number of values that have not been read. */
  left: number;
  /** The beginning and the end of the current value. A null has no bytes. */
  start = 0;
  end = 0;
  isNull = false;

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes;
    this.left = bytes.readUInt16BE(start);
    this.at = start + COUNT;
  }

  next(): void {
    const length = this.bytes.readInt32BE(this.at);
    this.start = this.at + LENGTH;
    this.isNull = length < 0;
    this.end = this.at = this.isNull ? this.start : this.start + length;
    this.left--;
  }

  /** Whether the current value is exactly a mark of links. */
  get isMark(): boolean {
    return this.end === this.start + 1 && this.bytes[this.start] === MARK;
  }

  get text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  get textOrNull(): string | null {
    return this.isNull ? null : this.text;
  }
}

/** The sizes in bytes of the two fields of a row: the number of its values, and the length of a value. */
const COUNT = 2;
const LENGTH = 4;

/** Appends the text that the remaining values of a row form. @returns its size in bytes; undefined if all of them are null */
function addText(body: GrowingBody, values: Values, links: Links | undefined): number | undefined {
  let start: number | undefined;
  while (values.left > 0) {
    values.next();
    if (values.isNull) continue;
    if (start === undefined) {
      body.begin();
      start = body.length;
    }
    if (links !== undefined && values.isMark && values.left > links.count) addLinks(body, values, links);
    else body.add(values.bytes, values.start, values.end);
  }
  return start === undefined ? undefined : body.length - start;
}

/** Appends the fragments of keys, or the keys between marks if a fragment is not known. Another mark follows the keys. */
function addLinks(body: GrowingBody, values: Values, { count, fragmentOf }: Links): void {
  const { bytes, at, left } = values;
  const fragments: Buffer[] = [];
  for (let link = 0; link < count; link++) {
    values.next();
    const { isNull, start, end } = values;
    const fragment = isNull ? fragmentOf?.(link) : fragmentOf?.(link, bytes, start, end);
    if (fragment !== undefined) fragments.push(fragment);
  }
  values.next();
  if (!values.isMark) {
    // A piece is damaged. JSON contains no bare marks, so the check of the body finds this one.
    body.add(BARE_MARK, 0, BARE_MARK.length);
    return;
  }
  if (fragments.length === count) {
    for (const fragment of fragments) body.add(fragment, 0, fragment.length);
    return;
  }
  values.at = at;
  values.left = left;
  const keys = Array.from({ length: count }, () => {
    values.next();
    return values.textOrNull;
  });
  values.next();
  const marked = Buffer.from(`${LINK_MARK}${JSON.stringify(keys)}${LINK_MARK}`);
  body.add(marked, 0, marked.length);
}

/**
 * @param statement returns a text for each row: in one column, or in several, of which those after a mark are the keys of links
 * @param isKeyed whether a key precedes the text
 */
export async function readTexts(
  { client }: ServerSession,
  statement: SentStatement,
  isKeyed: boolean,
  { limit = Number.POSITIVE_INFINITY, before, each = () => undefined, links }: TextsOptions = {},
): Promise<Texts> {
  const body = new GrowingBody();
  let rows = 0;
  let last: string | undefined;
  let failure: { readonly error: unknown } | undefined;
  let isBefore = before !== undefined;
  const take = (bytes: Buffer, start: number): void => {
    const values = new Values(bytes, start);
    if (isKeyed) values.next();
    if (isBefore) {
      isBefore = false;
      values.next();
      before?.(values.text);
      return;
    }
    if (failure !== undefined || ++rows > limit) return;
    const k = isKeyed ? values.textOrNull : null;
    if (k !== null) last = k;
    each(k, addText(body, values, links));
  };
  const receive = (bytes: Buffer, start: number): void => {
    try {
      take(bytes, start);
    } catch (error) {
      failure = { error };
      // The rest of the result is not needed.
      client.connection.stream.destroy();
    }
  };
  try {
    await send(client, { ...statement, receive });
  } catch (error) {
    body.release();
    throw failure === undefined ? error : failure.error;
  }
  const known = { rows: Math.min(rows, limit), more: rows > limit, commas: body.commas };
  return { ...known, ...(last === undefined ? {} : { last }), ...body.end() };
}
