/**
 * Reads the rows of a statement as bytes from the wire, before the driver makes a string of each value and an object of each row.
 * Everything else that the server sends is passed to the driver unchanged. This module knows how messages are framed (PostgreSQL,
 * "Message Formats"), but not what rows mean.
 */
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Client, type Connection, type PoolClient, Query } from 'pg';

/** Receives a row: number of values (2 bytes), then length (4; -1: null) and bytes of each. The buffer is reused. */
export type ReceiveRow = (bytes: Buffer, start: number) => void;

/** The header of a message: its type, and the length of the rest. */
const HEADER = 5;
const TYPE = 1;

const typeOf = (letter: string): number => letter.charCodeAt(0);
const ROW_DESCRIPTION = typeOf('T');
const DATA_ROW = typeOf('D');
/** The messages that end the rows of a statement: CommandComplete, ErrorResponse, ReadyForQuery. */
const ENDS: ReadonlySet<number> = new Set(['C', 'E', 'Z'].map(typeOf));

const wires = new WeakMap<Client, Wire>();

/**
 * The buffer into which all connections of the process receive, one chunk after the other. If they had separate buffers, the chunks
 * of a few pages would make V8 collect garbage in the whole heap.
 */
const received = Buffer.allocUnsafeSlow(256 * 1024);

/** The connections whose chunks are not kept by anyone. */
const watched = new WeakSet<Duplex>();

/** Opens a connection's socket. */
export function openSocket(): Socket {
  const callback = (length: number): boolean => {
    const chunk = received.subarray(0, length);
    socket.emit('data', watched.has(socket) ? chunk : Buffer.from(chunk));
    return true;
  };
  const socket = new Socket({ onread: { buffer: received, callback } });
  return socket;
}

/** Inserts itself between an idle connection and its driver. */
export function watchRows(client: PoolClient): void {
  const { stream } = client.connection;
  watched.add(stream);
  const [driver] = stream.listeners('data');
  if (driver === undefined) throw new Error('The driver does not listen to its connection');
  stream.removeAllListeners('data');
  const wire = new Wire((chunk) => Reflect.apply(driver, stream, [chunk]));
  wires.set(client, wire);
  stream.on('data', (chunk: Buffer) => wire.receive(chunk));
}

/** Has the rows of a statement passed to `take` instead of the driver. */
export function receiveRows(client: Client, statement: Query, take: ReceiveRow): void {
  const wire = wires.get(client);
  if (wire === undefined) throw new Error('Nothing watches the rows of this connection');
  // The driver calls this when the rows of a statement begin.
  Object.assign(statement, { handleRowDescription: () => wire.setRowReceiver(take) });
}

/** The messages that run a prepared statement with one value. They do not ask for a description of its columns. */
const makeMessages = (name: string, value: string): Buffer => {
  const end = 'E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04';
  const bytes = Buffer.from(`B\0\0\0\0\0${name}\0\0\0\0\x01\0\0\0\0${value}\0\0${end}`, 'latin1');
  bytes.writeUInt32BE(bytes.length - end.length - TYPE, TYPE);
  bytes.writeUInt32BE(value.length, HEADER + name.length + 6);
  return bytes;
};

/** Runs a prepared statement with a value in ASCII. @returns the values of the row that it returns */
export function runPrepared(
  client: Client,
  name: string,
  value: string,
): Promise<readonly (string | null)[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly (string | null)[]>();
  let row: readonly (string | null)[] = [];
  /** The driver calls these handlers. */
  const handlers = {
    submit: ({ stream }: Connection) => void stream.write(makeMessages(name, value)),
    handleDataRow: ({ fields }: { readonly fields: typeof row }) => {
      row = fields;
    },
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(row),
    handleError: reject,
  };
  client.query(Object.assign(new Query(''), handlers));
  return promise;
}

/** Identifies a request to cancel a statement, in the place of a version of the protocol. */
const CANCEL_REQUEST = 80_877_102;
const CANCEL_PATIENCE = 5000;

/** Asks the server to cancel the current statement of a connection, if there is one ("Canceling Requests in Progress"). */
export function cancelStatement(client: Client): void {
  const { host, port } = client;
  const [process, secret] = ['processID', 'secretKey'].map((name) => Number(Reflect.get(client, name)));
  const request = Buffer.alloc(16);
  for (const [at, value] of [request.length, CANCEL_REQUEST, process, secret].entries())
    request.writeInt32BE(value ?? 0, at * 4);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  // If the request fails, the statement ends at its time limit.
  socket.on('error', () => undefined).setTimeout(CANCEL_PATIENCE, () => socket.destroy());
  socket.resume().end(request);
}

class Wire {
  readonly #driver: (chunk: Buffer) => void;
  #take: ReceiveRow | undefined;
  /** The type of the current message, and the number of its bytes that have not arrived. */
  #type = 0;
  #left = 0;
  /** The beginning of a header whose rest arrives in a later chunk. */
  readonly #header = Buffer.alloc(HEADER);
  #headed = 0;
  /** Whether the current message is a row to take. */
  #isTaken = false;
  /** The beginning of a row whose rest arrives in a later chunk. */
  #row = Buffer.alloc(0);
  #rowed = 0;

  constructor(driver: (chunk: Buffer) => void) {
    this.#driver = driver;
  }

  /** @param take receives the rows of the statement whose rows begin now */
  setRowReceiver(take: ReceiveRow): void {
    this.#take = take;
  }

  receive(chunk: Buffer): void {
    /** The start of the bytes that must still be passed to the driver. */
    let begin = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        if (this.#headed === 0) {
          this.#type = chunk[at] ?? 0;
          this.#isTaken = this.#type === DATA_ROW && this.#take !== undefined;
          if (this.#isTaken) this.#give(chunk, begin, at);
        }
        at = this.#head(chunk, at);
        if (this.#headed > 0) break;
      }
      const end = Math.min(at + this.#left, chunk.length);
      this.#left -= end - at;
      if (this.#isTaken) {
        this.#collect(chunk, at, end);
        begin = end;
      } else if (this.#left === 0) {
        if (ENDS.has(this.#type)) this.#take = undefined;
        if (this.#type === ROW_DESCRIPTION) {
          this.#give(chunk, begin, end);
          begin = end;
        }
      }
      at = end;
    }
    if (!this.#isTaken || (this.#left === 0 && this.#headed === 0)) this.#give(chunk, begin, chunk.length);
  }

  /** Reads a header, or the part of it that has arrived. @returns where the message continues */
  #head(chunk: Buffer, at: number): number {
    if (this.#headed === 0 && chunk.length - at >= HEADER) {
      this.#left = chunk.readUInt32BE(at + TYPE) - (HEADER - TYPE);
      return at + HEADER;
    }
    const length = Math.min(HEADER - this.#headed, chunk.length - at);
    chunk.copy(this.#header, this.#headed, at, at + length);
    this.#headed += length;
    if (this.#headed === HEADER) {
      this.#left = this.#header.readUInt32BE(TYPE) - (HEADER - TYPE);
      this.#headed = 0;
    }
    return at + length;
  }

  /** Passes a row on if this is its last part; otherwise keeps the part. */
  #collect(chunk: Buffer, start: number, end: number): void {
    if (this.#left === 0 && this.#rowed === 0) {
      this.#take?.(chunk, start);
      return;
    }
    const length = this.#rowed + end - start;
    if (this.#row.length < length + this.#left) {
      const larger = Buffer.allocUnsafe(length + this.#left);
      this.#row.copy(larger, 0, 0, this.#rowed);
      this.#row = larger;
    }
    chunk.copy(this.#row, this.#rowed, start, end);
    this.#rowed = length;
    if (this.#left > 0) return;
    this.#rowed = 0;
    this.#take?.(this.#row, 0);
    if (this.#row.length > LARGEST_KEPT) this.#row = Buffer.alloc(0);
  }

  #give(chunk: Buffer, begin: number, end: number): void {
    // The driver keeps the beginning of a message until the rest of it arrives, so it receives a copy.
    if (begin < end) this.#driver(Buffer.from(chunk.subarray(begin, end)));
  }
}

/** The largest buffer that a connection keeps for parts of rows, in bytes. */
const LARGEST_KEPT = 256 * 1024;
