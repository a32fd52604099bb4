/**
 * Clients of a service under soak: walkers, searchers, readers of single records and slow readers. Each is a loop that runs until
 * it is aborted.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from 'plat-demo';
import type { Tally } from './tally.ts';

/** The service that a client uses. */
export interface Target {
  /** Undefined while the service is being restarted. */
  readonly addresses: () => Readonly<Record<string, string>> | undefined;
  /** Whether connections may break, because the service is killed from time to time. */
  readonly mayBreak: boolean;
}

export interface Client {
  readonly target: Target;
  readonly token: string;
  readonly random: Random;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** Milliseconds between two requests of a client. */
const PAUSE = 150;
const MOST_PATIENCE = 20_000;

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Sends a request and reads the complete response; responses that claim to be JSON are parsed. */
async function ask(client: Client, kind: string, surface: string, path: string): Promise<Answer | undefined> {
  const { target, token, tally, signal } = client;
  const address = target.addresses()?.[surface];
  if (address === undefined || signal.aborted) {
    await pause(PAUSE, signal);
    return undefined;
  }
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${address}${path}`, { headers, signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    const retryAfter = response.headers.get('retry-after');
    tally.answer(kind, response.status, retryAfter);
    const json: Readonly<Record<string, unknown>> = JSON.parse(text);
    const wait = retryAfter === null ? PAUSE : Math.min(MOST_PATIENCE, Number(retryAfter) * 1000);
    await pause(wait, signal);
    return { status: response.status, json };
  } catch (error) {
    const why = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
    if (target.mayBreak && !(error instanceof SyntaxError)) tally.count(`${kind}: interrupted by a kill`);
    else tally.fail(`${kind} ${path}: ${why}`);
    await pause(PAUSE, signal);
    return undefined;
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Walks whole collections by their next links, repeatedly; no key may occur twice in a walk. */
export async function walk(client: Client, surface: string, path: string): Promise<void> {
  while (!client.signal.aborted) {
    const seen = new Set<unknown>();
    let rows = 0;
    let next: string | undefined = path;
    while (next !== undefined && !client.signal.aborted) {
      const answer: Answer | undefined = await ask(client, `walk on ${surface}`, surface, next);
      if (answer === undefined || answer.status !== 200) {
        if (client.target.mayBreak && answer === undefined) break;
        continue;
      }
      for (const row of listOf(answer.json.value)) {
        if (typeof row !== 'object' || row === null || !('ListingKey' in row)) continue;
        rows++;
        seen.add(row.ListingKey);
      }
      const link: unknown = answer.json['@odata.nextLink'];
      next = typeof link === 'string' ? link.replace(/^http:\/\/[^/]+/, '') : undefined;
    }
    if (seen.size !== rows) client.tally.fail(`a walk returned ${rows - seen.size} keys twice`);
    client.tally.count('complete walks');
  }
}

const FILTERS: readonly ((random: Random) => string)[] = [
  (random) => `ListPrice ge ${random.integer(1, 20) * 50_000}`,
  (random) => `BedroomsTotal eq ${random.integer(1, 6)} and StandardStatus eq 'Active'`,
  (random) => `contains(PublicRemarks,'${random.pick(['garden', 'view', 'street', 'light', 'corner'])}')`,
  (random) => `Media/any(m:m/Order eq ${random.integer(0, 5)})`,
  (random) => `startswith(City,'${random.pick(['A', 'B', 'M', 'S', 'W'])}')`,
  () => `ModificationTimestamp lt 2027-01-01T00:00:00Z and ListAgentEmail ne null`,
];
const ORDERS = ['', '&$orderby=ListPrice desc', '&$orderby=City,ListPrice', '&$count=true'];

/** Searches with a limited number of different filters, over both interfaces. */
export async function search(client: Client): Promise<void> {
  const { random, signal } = client;
  while (!signal.aborted) {
    const filter = encodeURIComponent(random.pick(FILTERS)(random));
    const order = random.pick(ORDERS).replaceAll(' ', '%20');
    const path = `/Reso/OData/Property?$filter=${filter}${order}&$top=${random.pick([1, 20, 200, 1000])}`;
    await ask(client, 'search', 'api', path);
    await ask(
      client,
      'native search',
      'api',
      `/v1/listings?_limit=25&_expand=Photos&_filter=${nativeFilter(random)}`,
    );
  }
}

const nativeFilter = (random: Random): string =>
  encodeURIComponent(`ListPrice Ge ${random.integer(1, 20) * 50_000}`);

/** Reads single records, metadata and counts. */
export async function readByKey(client: Client): Promise<void> {
  const { random, signal } = client;
  let keys: readonly string[] = [];
  while (!signal.aborted) {
    if (keys.length === 0 || random.integer(0, 200) === 0) {
      const page = await ask(client, 'keys', 'api', '/Reso/OData/Property?$select=ListingKey&$top=1000');
      keys = listOf(page?.json.value).flatMap((row) =>
        typeof row === 'object' && row !== null && 'ListingKey' in row ? [String(row.ListingKey)] : [],
      );
      continue;
    }
    // A listing of the market that is never deleted, so a 404 would be a lost record.
    const key = encodeURIComponent(random.pick(keys.filter((each) => !each.startsWith('SOAK'))));
    await ask(client, 'by key', 'api', `/Reso/OData/Property('${key}')?$expand=Media,ListAgent`);
    await ask(client, 'count', 'api', '/Reso/OData/Media?$filter=Order%20eq%201&$count=true&$top=1');
  }
}

/** Reads large pages at a few kilobytes per second, and disconnects at some point. */
export async function readSlowly(client: Client): Promise<void> {
  const { target, token, random, signal, tally } = client;
  while (!signal.aborted) {
    const address = target.addresses()?.replication;
    if (address === undefined) {
      await pause(PAUSE, signal);
      continue;
    }
    const { hostname, port } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    const path = '/Reso/OData/Property?$top=1000&$expand=Media';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    const end = performance.now() + random.integer(5, 60) * 1000;
    while (!signal.aborted && !socket.destroyed && performance.now() < end) {
      socket.read(4096);
      await pause(1000, signal);
    }
    socket.destroy();
    tally.count('slow readers');
  }
}
