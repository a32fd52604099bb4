import { Query, type QueryConfig } from 'pg';
import type { Row } from '../../../store/session.ts';
import type { BodyCheck } from '../../../store/whole/whole-bodies.ts';
import type { ServerSession } from '../connection/session.ts';

/** Characters of texts that become bytes together. */
const PORTION = 128 * 1024;
/** Portions that wait to be taken; then the server is to wait. */
const AHEAD = 2;

/**
 * The texts `x` of a statement's rows, joined by commas, in portions that come as they are taken: while nobody takes
 * them the connection is not read, and so the server waits, too.
 */
export class Portions {
  readonly #session: ServerSession;
  readonly #check: BodyCheck;
  readonly #ready: Buffer[] = [];
  #texts: string[] = [];
  #length = 0;
  #first: Row | undefined;
  #isBegun = false;
  #isTaken = false;
  #isLeft = false;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;
  /** Settles when the connection has nothing more of this statement. */
  readonly done: Promise<void>;

  /** @param check looks at each portion before anybody gets it */
  constructor(session: ServerSession, statement: QueryConfig, check: BodyCheck) {
    this.#session = session;
    this.#check = check;
    const query = new Query<Row>(statement);
    query.on('row', (row) => this.#take(row));
    this.done = new Promise((resolve, reject) => {
      query.on('end', () => {
        this.#finish({});
        resolve();
      });
      query.on('error', (error) => {
        this.#finish({ error });
        reject(error);
      });
    });
    this.done.catch(() => undefined); // whoever takes the next portion is told, too
    session.client.query(query);
  }

  /** Known from the first portion on; undefined when there are no rows. */
  get first(): Row | undefined {
    return this.#first;
  }

  /** The next portion; undefined at the end. @throws what the statement failed with, or a portion that is not whole */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const portion = this.#ready.shift();
      if (this.#ready.length < AHEAD) this.#listen();
      if (portion !== undefined) {
        this.#check(portion, this.#isTaken);
        this.#isTaken = true;
        return portion;
      }
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** What is still to come is not wanted any more: it is read to its end and forgotten. */
  leave(): void {
    this.#isLeft = true;
    this.#ready.length = 0;
    this.#texts = [];
    this.#listen();
  }

  #take(row: Row): void {
    this.#first ??= row;
    if (this.#isLeft || row.x === null) return;
    const text = String(row.x);
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= PORTION) this.#give();
    if (this.#ready.length >= AHEAD) this.#pause();
  }

  #give(): void {
    const joined = this.#texts.join(',');
    this.#ready.push(Buffer.from(this.#isBegun ? `,${joined}` : joined));
    this.#isBegun = true;
    this.#texts = [];
    this.#length = 0;
    this.#wake?.();
  }

  #finish(end: { readonly error?: Error }): void {
    if (this.#texts.length > 0) this.#give();
    this.#end = end;
    // The end may come with what the pause was for; what is asked on this connection next has to be heard.
    this.#session.client.connection.stream.resume();
    this.#wake?.();
  }

  #pause(): void {
    this.#session.client.connection.stream.pause();
  }

  #listen(): void {
    if (this.#end !== undefined) return;
    this.#session.client.connection.stream.resume();
    this.#session.watch.again();
  }
}
