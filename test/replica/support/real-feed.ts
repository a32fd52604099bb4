/** A market that is served by a process of its own, behind a proxy that a test controls. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Place, Running } from '../../cli/run.ts';
import { testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { makeKey } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { operations } from '../../support/world.ts';

/** Every port but the public ones is chosen by the system. */
const PORTS = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];

export interface Market {
  /** Opened in this process as well as in the one that serves it. */
  readonly store: Store;
  readonly token: string;
  write(resource: string, ...records: readonly Json[]): Promise<unknown>;
  keys(): Promise<string[]>;
}

/** Creates a market and a key that sees all of it. @param address of the store */
export async function makeMarket(scope: Scope, address: string, listings: number): Promise<Market> {
  const store = await openStore(address, {
    create: { ...DEFAULT_SETTINGS, declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
  });
  scope.after(() => store.close());
  const { write, exported } = operations(store, testClock());
  const records = Map.groupBy(marketRecords({ seed: 7, listings }), ({ resource }) => resource);
  for (const [resource, list] of records) await write(resource, ...list.map(({ record }): Json => record));
  return {
    store,
    token: await makeKey(store, 'replication'),
    write,
    keys: async () => (await exported('Property')).map(({ ListingKey }) => String(ListingKey)).toSorted(),
  };
}

/** What a proxy does with a request. */
export type Passage = 'pass' | 'refuse';

export interface Door {
  /** Origin of the replication surface that clients use. */
  readonly origin: string;
  /** Called before each request is passed on, with its number from 1, and its path and query. */
  before: (count: number, path: string) => Passage | Promise<Passage>;
  /** Called when the beginning of a response, and when all of it, has been passed on. */
  during: (count: number, part: 'begun' | 'whole') => void;
  /** The current address of the service. */
  target: string;
}

/** A proxy in front of a service whose address may change. */
export async function openDoor(scope: Scope): Promise<Door> {
  let count = 0;
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const number = ++count;
    if ((await door.before(number, incoming.url ?? '')) === 'refuse') {
      outgoing.destroy();
      return;
    }
    const onward = request(`${door.target}${incoming.url}`, { headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.once('data', () => door.during(number, 'begun'));
      answer.on('end', () => door.during(number, 'whole'));
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end();
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address: AddressInfo | string | null = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const door: Door = {
    origin: `http://127.0.0.1:${address.port}`,
    before: () => 'pass',
    during: () => undefined,
    target: '',
  };
  return door;
}

/**
 * Serves a store in a process of its own, whose links lead to the proxy in front if there is one: the port of its next process is
 * another one.
 * @returns the process, and the address of each surface
 */
export async function serve(
  at: Place,
  store: string,
): Promise<{ readonly process: Running; readonly addresses: Readonly<Record<string, string>> }> {
  const process = at.start(['serve', '--store', store, '--log-level', 'silent', '--trust-proxy', ...PORTS]);
  const text = await process.until(/^admin .*\n/m);
  const lines = text.matchAll(/^(\w+) +(http:\/\/[^/]+)\//gm);
  return {
    process,
    addresses: Object.fromEntries([...lines].map(([, name = '', address = '']) => [name, address])),
  };
}

/** Resolves with the first line of JSON on stderr that satisfies a condition. @throws when the process ends before that */
export function lineOf(running: Running, wanted: (line: Json) => boolean): Promise<Json> {
  let rest = '';
  return new Promise((resolve, reject) => {
    running.child.stderr?.on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((each) => each.startsWith('{'))) {
        const json: unknown = JSON.parse(line);
        if (isJson(json) && wanted(json)) resolve(json);
      }
    });
    running.ended.then(({ code, err }) => reject(new Error(`ended with ${code}: ${err}`)));
  });
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The options with which a copy is made of the feed behind a proxy. */
export const from = (
  origin: string,
  kind: 'reso' | 'native',
  token: string,
  store = 'replica.db',
): string[] => [
  '--from',
  `${origin}${kind === 'reso' ? '/Reso/OData' : '/v1'}`,
  '--interface',
  kind,
  '--token',
  token,
  '--source',
  'feed',
  '--store',
  store,
];
