import type { Connection } from 'pg';
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

/** Methods of the driver's connection that its type declarations lack. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(message: string): void;
  endCopyFrom(): void;
}

const takesCopies = (connection: Connection): connection is Connection & CopyConnection =>
  ['query', 'sendCopyFromChunk', 'sendCopyFail', 'endCopyFrom'].every((name) => name in connection);

/** The number of characters to send at once: slightly more than the socket buffers, so that the server never waits. */
const CHUNK = 256 * 1024;

/** Sends rows to a table with COPY, the fastest way; chunks are generated while the server stores the previous ones. */
export function copyIn(
  session: ServerSession,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly BoundValue[]>,
): Promise<void> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const iterator = rows[Symbol.iterator]();
  let isOver = false;
  const end = (settle: () => void): void => {
    if (!isOver) settle();
    isOver = true;
  };
  const nextChunk = (): { readonly text: string; readonly isLast: boolean } => {
    let text = '';
    while (text.length < CHUNK) {
      const { done, value } = iterator.next();
      if (done === true) return { text, isLast: true };
      text += `${value.map(cellText).join('\t')}\n`;
    }
    return { text, isLast: false };
  };
  /** Sends the next rows, and continues when the socket has written them. */
  const send = (connection: CopyConnection): void => {
    if (isOver) return;
    try {
      const { text, isLast } = nextChunk();
      if (text !== '') connection.sendCopyFromChunk(Buffer.from(text));
      if (isLast) connection.endCopyFrom();
      else setImmediate(() => send(connection));
    } catch (error) {
      end(() => reject(error));
      connection.sendCopyFail('the rows could not be made');
    }
  };
  /** A statement whose data is sent when the server requests it. The driver calls these handlers. */
  const copy = {
    submit(connection: Connection): void {
      if (!takesCopies(connection)) throw new Error('The driver does not copy');
      connection.query(`COPY "${table}" (${names}) FROM STDIN`);
    },
    handleCopyInResponse: send,
    handleError: (error: Error) => end(() => reject(error)),
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => end(resolve),
  };
  session.client.query(copy);
  return promise;
}
