/** Observes the traffic between a store and its server: the commands, and how often the store waits for a response. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import type { Scope } from './engine.ts';

export interface Traffic {
  /** The texts of the commands that the server ran, prepared or not, except those that end a transaction. */
  readonly commands: readonly string[];
  /** The number of consecutive round trips: how often something was sent after a response had arrived. */
  readonly waits: number;
}

export interface Relay {
  readonly address: string;
  during(work: () => Promise<unknown>): Promise<Traffic>;
  /**
   * Passes on this many bytes from the server on one connection, and then breaks it. Resolves when that has happened and the work
   * is done.
   */
  breakAfter(bytes: number, work: () => Promise<void>): Promise<void>;
  /**
   * From the next commit on, passes on nothing from the server on that connection; the commit itself is passed on or not. Later
   * connections work normally again once the work is done.
   */
  losingCommit(isPassedOn: boolean, work: () => Promise<unknown>): Promise<void>;
}

/** A connection to break in the middle of a response. */
interface Break {
  readonly bytes: number;
  /** The number of bytes that have passed on each connection. */
  readonly passed: Map<Socket, number>;
  readonly end: (near: Socket) => void;
}

const STARTUP_LENGTH = 4;
const HEADER = 5;

/** The texts in a message, each of which ends with a zero byte. */
const textsOf = (body: Buffer): string[] => body.toString('latin1').split('\0');

/** Parses what a client sends (PostgreSQL, Message Formats). @param ran called with each command */
function reader(ran: (text: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  let bound = '';
  const prepared = new Map<string, string>();
  const handle = (type: string, body: Buffer): void => {
    const [first = '', second = ''] = textsOf(body);
    if (type === 'Q') ran(first);
    else if (type === 'P') prepared.set(first, second);
    else if (type === 'B') bound = prepared.get(second) ?? '';
    else if (type === 'E') ran(bound);
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const at = isStarted ? 1 : 0;
      if (rest.length < (isStarted ? HEADER : STARTUP_LENGTH)) return;
      const end = at + rest.readInt32BE(at);
      if (rest.length < end) return;
      if (isStarted) handle(String.fromCharCode(rest[0] ?? 0), rest.subarray(HEADER, end));
      isStarted = true;
      rest = rest.subarray(end);
    }
  };
}

/** @param address of a database on a test server, which is reached through a socket */
export async function relayTo(scope: Scope, address: string): Promise<Relay> {
  const { searchParams, pathname } = new URL(address);
  const links = new Set<Socket>();
  let commands: string[] = [];
  let waits = 0;
  let isAnswered = true;
  let breaking: Break | undefined;
  let losing: { readonly isPassedOn: boolean } | undefined;
  const ran = (text: string): void => {
    if (text === 'COMMIT') return;
    commands.push(text);
    if (isAnswered) waits++;
    isAnswered = false;
  };
  const server = createServer((near) => {
    const far = connect(`${searchParams.get('host')}/.s.PGSQL.5432`);
    const read = reader(ran);
    links.add(near).add(far);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    let isSilent = false;
    near.on('data', (chunk: Buffer) => {
      read(chunk);
      if (losing !== undefined && chunk.includes('COMMIT\0')) {
        isSilent = true;
        if (!losing.isPassedOn) return;
      }
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (isSilent) return;
      isAnswered = true;
      const left = breaking && breaking.bytes - (breaking.passed.get(near) ?? 0);
      if (breaking === undefined || left === undefined || chunk.length < left) {
        breaking?.passed.set(near, (breaking.passed.get(near) ?? 0) + chunk.length);
        near.write(chunk);
        return;
      }
      far.pause();
      near.write(chunk.subarray(0, left));
      breaking.end(near);
      breaking = undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    for (const link of links) link.destroy();
    server.close();
  });
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === 'object');
  return {
    address: `postgres://plat@127.0.0.1:${bound.port}${pathname}`,
    async during(work) {
      commands = [];
      waits = 0;
      isAnswered = true;
      await work();
      return { commands, waits };
    },
    breakAfter(bytes, work) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const end = (near: Socket): void => {
        work()
          .finally(() => near.destroySoon())
          .then(resolve, reject);
      };
      breaking = { bytes, passed: new Map(), end };
      return promise;
    },
    async losingCommit(isPassedOn, work) {
      losing = { isPassedOn };
      await work();
      losing = undefined;
    },
  };
}
