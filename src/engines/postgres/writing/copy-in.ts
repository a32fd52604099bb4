import type { Connection, Submittable } from 'pg';
import type { BoundValue } from '../../../compile/fragment.ts';
import type { ServerSession } from '../connection/session.ts';

const SPECIAL = /[\\\n\r\t]/;

function cellText(value: BoundValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    : value;
}

/** What the driver's connection can do beyond its declared types. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(message: string): void;
  endCopyFrom(): void;
}

const takesCopies = (connection: Connection): connection is Connection & CopyConnection =>
  ['query', 'sendCopyFromChunk', 'sendCopyFail', 'endCopyFrom'].every((name) => name in connection);

/** Characters to send at once: somewhat more than the socket takes, so that the server never waits for the next. */
const CHUNK = 256 * 1024;

/**
 * Sends rows to a table with COPY, the fastest way into the server. The rows are pulled in chunks, so that the next ones are
 * made while the server stores those before them.
 */
export function copyIn(
  session: ServerSession,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly BoundValue[]>,
): Promise<void> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const text = `COPY "${table}" (${names}) FROM STDIN`;
  session.client.query(new Copy(text, rows[Symbol.iterator](), resolve, reject));
  return promise;
}

/** A statement whose data follow when the server requests them. The driver calls its handlers. */
class Copy implements Submittable {
  readonly #text: string;
  readonly #rows: Iterator<readonly BoundValue[]>;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  #isOver = false;

  constructor(
    text: string,
    rows: Iterator<readonly BoundValue[]>,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#text = text;
    this.#rows = rows;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    if (!takesCopies(connection)) throw new Error('The driver does not copy');
    connection.query(this.#text);
  }

  /** Sends the next rows, and lets the socket write them before those that follow. */
  handleCopyInResponse(connection: CopyConnection): void {
    if (this.#isOver) return;
    try {
      const { text, isLast } = this.#next();
      if (text !== '') connection.sendCopyFromChunk(Buffer.from(text));
      if (isLast) connection.endCopyFrom();
      else setImmediate(() => this.handleCopyInResponse(connection));
    } catch (error) {
      this.#end(() => this.#reject(error));
      connection.sendCopyFail('the rows could not be made');
    }
  }

  #next(): { readonly text: string; readonly isLast: boolean } {
    let text = '';
    while (text.length < CHUNK) {
      const { done, value } = this.#rows.next();
      if (done === true) return { text, isLast: true };
      text += `${value.map(cellText).join('\t')}\n`;
    }
    return { text, isLast: false };
  }

  handleError(error: Error): void {
    this.#end(() => this.#reject(error));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#end(this.#resolve);
  }

  #end(settle: () => void): void {
    if (!this.#isOver) settle();
    this.#isOver = true;
  }
}
