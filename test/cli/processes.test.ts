/** Three processes that serve one store on a server behave like one service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashToken } from '../../src/access/index.ts';
import { openStore } from '../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import type { Store } from '../../src/store/store.ts';
import { listing } from '../support/builders.ts';
import { emptyDatabase } from '../support/postgres-engine.ts';
import { makeKey } from '../support/service.ts';
import { type Json, operations } from '../support/world.ts';
import { place, type Running } from './run.ts';
import { ANY_PORT, type Asked, addressesOf, get, keysOf, nextOf, rowsOf, walk } from './serving.ts';

const LISTINGS = 90;
const LIMIT = 24;

const scope = { after };
const at = place(scope);
const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
let store: Store;
let running: readonly Running[] = [];
/** The surfaces of each process. */
let feeds: readonly string[] = [];
let apis: readonly string[] = [];
let admins: readonly string[] = [];

async function writing(...records: readonly Json[]): Promise<void> {
  await operations(store, { text: () => new Date().toISOString() }).write('Property', ...records);
}

const keyOf = (number: number): string => `L${String(number).padStart(3, '0')}`;
const dear = (number: number): Json => listing(keyOf(number), { ListPrice: 1000 - number, BedroomsTotal: 3 });

/** The time of a key's last walk over all listings, from the use that all processes report. */
async function lastSweepOf(token: string): Promise<string | null | undefined> {
  const operator = await makeKey(store, 'admin');
  for (const admin of admins) assert.equal((await get(`${admin}/keys`, operator)).status, 200);
  const id = (await store.look(hashToken(token))).key?.id;
  return (await store.keys.list()).find((key) => key.id === id)?.use.lastSweepAt;
}

before(async () => {
  store = await openStore(address);
  await writing(...Array.from({ length: LISTINGS }, (_, number) => dear(number)));
  const config = at.file(
    'serve.json',
    JSON.stringify({ limits: { api: { requests: LIMIT, seconds: 300 } } }),
  );
  const args = ['serve', '--store', address, '--config', config, ...ANY_PORT];
  running = [1, 2, 3].map(() => at.start(args));
  const addresses = await Promise.all(running.map(addressesOf));
  feeds = addresses.map(({ replication = '' }) => replication);
  apis = addresses.map(({ api = '' }) => api);
  admins = addresses.map(({ admin = '' }) => admin);
});

after(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  for (const { ended } of running) await ended;
  await store.close();
  await drop();
});

const root = '/Reso/OData/Property';

test('a walk that begins on one process continues on the others, with the same rows', async () => {
  const [token, other] = [await makeKey(store, 'replication'), await makeKey(store, 'replication')];
  const alone = await walk(`${root}?$top=1000`, other, feeds.slice(0, 1));
  assert.equal(alone.rows.length, LISTINGS);
  const together = await walk(`${root}?$top=7`, token, feeds);
  assert.deepEqual(together.rows, alone.rows);
  const partial = await makeKey(store, 'replication');
  await get(`${feeds[0]}${root}?$top=7`, partial);
  await walk(`${root}?$top=7&$skiptoken=${keyOf(13)}`, partial, feeds);
  const swept = await Promise.all([token, partial].map(lastSweepOf));
  assert.deepEqual(
    swept.map((moment) => moment !== null),
    [true, false],
    'the walk counts as a sweep',
  );
  const skipped: unknown[] = [];
  for (let page = 0, after = ''; ; page++) {
    const url = `${feeds[page % 3]}/v1/listings?_limit=7&_select=ListingKey&_skiptoken=${after}`;
    const { json } = await get(url, token);
    const { D }: { D: { Results: { Id: string }[]; SkipToken: string } } = JSON.parse(JSON.stringify(json));
    if (D.Results.length === 0) break;
    skipped.push(...D.Results.map(({ Id }) => Id));
    after = D.SkipToken;
  }
  assert.deepEqual(skipped, keysOf(alone.rows));
});

for (const order of ['', '&$orderby=ListPrice', '&$orderby=ListPrice desc']) {
  test(`a filter walks one frozen list of live records in all processes${order}`, async () => {
    const path = `${root}?$top=7&$select=ListingKey,ListPrice&$filter=ListPrice lt 962${order}`;
    const [one, all] = [await makeKey(store, 'replication'), await makeKey(store, 'replication')];
    const found = Array.from({ length: 51 }, (_, index) => keyOf(39 + index));
    // Prices that leave the filter, enter it, and reverse its order.
    const change = async (page: number): Promise<void> => {
      if (page !== 0) return;
      await writing(
        ...Array.from({ length: LISTINGS }, (_, number) =>
          listing(keyOf(number), { ListPrice: number * 20 }),
        ),
        listing('L000a', { ListPrice: 1 }),
      );
    };
    const begun = await get(`${feeds[0]}${path}`, one);
    const together = await walk(path, all, feeds, change);
    const alone = await walk(path, one, feeds.slice(0, 1));
    await writing(...Array.from({ length: LISTINGS }, (_, number) => dear(number)));
    await store.remove('Property', ['L000a']);
    assert.equal(begun.headers.get('x-plat-index'), 'fresh');
    assert.deepEqual(keysOf(together.rows), order === '&$orderby=ListPrice' ? found.toReversed() : found);
    assert.deepEqual(together.states, ['fresh', ...Array(7).fill('cached')]);
    assert.deepEqual(new Set(alone.states), new Set(['cached']));
    if (order === '') assert.deepEqual(together.rows.slice(7), alone.rows.slice(7));
    const counted = await get(`${feeds[2]}${path}&$count=true`, all);
    assert.deepEqual([counted.json['@odata.count'], counted.headers.get('x-plat-index')], [51, 'cached']);
  });
}

test('if all processes are asked at once, one finds the list and all of them walk it, whatever is written meanwhile', async () => {
  const token = await makeKey(store, 'replication');
  let writes = true;
  const writer = (async () => {
    for (let round = 0; writes; round++)
      await writing(listing('L001', { ListPrice: round % 2 === 0 ? 5 : 999 }));
  })();
  for (let round = 0; round < 8; round++) {
    const path = `${root}?$select=ListingKey&$filter=ListPrice lt ${900 + round}&$count=true`;
    const answers = await Promise.all(feeds.map((feed) => get(`${feed}${path}`, token)));
    const [first] = answers.map(({ json }) => json['@odata.count']);
    assert.deepEqual(
      answers.map(({ json }) => json['@odata.count']),
      Array(3).fill(first),
    );
    assert.deepEqual(
      answers.map((answer) => keysOf(rowsOf(answer))),
      Array(3).fill(keysOf(answers.slice(0, 1).flatMap(rowsOf))),
    );
    const states = answers.map(({ headers }) => headers.get('x-plat-index')).toSorted();
    assert.deepEqual(states, ['cached', 'cached', 'fresh']);
  }
  writes = false;
  await writer;
  await writing(dear(1));
});

test('the limit of a key applies to all processes together, one after the other and at once', async () => {
  const path = '/v1/listings?_limit=1';
  const turns = await makeKey(store, 'api');
  const answers: Asked[] = [];
  for (let request = 0; request < 2 * LIMIT; request++) {
    answers.push(await get(`${apis[request % 3]}${path}`, turns));
  }
  assert.equal(answers.filter(({ status }) => status === 200).length, LIMIT);
  const last = answers.at(-1);
  assert.equal(last?.status, 429);
  assert.match(JSON.stringify(last.json), /"Code":1550/);
  const wait = Number(last.headers.get('retry-after'));
  assert.ok(wait > 200 && wait <= 300, `${wait} s`);
  assert.equal(last.headers.get('ratelimit'), `"requests";r=0;t=${wait}`);
  assert.equal(answers[0]?.headers.get('ratelimit-policy'), `"requests";q=${LIMIT};w=300`);
  assert.match(answers[0].headers.get('ratelimit') ?? '', /^"requests";r=23;t=/);
  const atOnce = await makeKey(store, 'api');
  const burst = await Promise.all(
    Array.from({ length: 3 * LIMIT }, (_, request) => get(`${apis[request % 3]}${path}`, atOnce)),
  );
  assert.equal(burst.filter(({ status }) => status === 200).length, LIMIT);
});

test('a revoked key and a redefined role take effect in all processes at once', async () => {
  const settings = (filter: string) => ({
    roles: [{ name: 'appraiser', classes: ['idx'], resources: { Property: filter, Lookup: '', Field: '' } }],
  });
  const create = async (name: string, filter: string): Promise<string> => {
    const config = at.file(`${name}.json`, JSON.stringify(settings(filter)));
    const role = ['--role', 'appraiser', '--config', config];
    return (await at.done(['key', 'create', '--store', address, '--name', name, ...role])).trimEnd();
  };
  const counts = async (token: string): Promise<unknown[]> => {
    const answers = await Promise.all(feeds.map((feed) => get(`${feed}${root}?$count=true&$top=1`, token)));
    return answers.map(({ status, json }) => (status === 200 ? json['@odata.count'] : status));
  };
  const first = await create('first', 'ListPrice ge 990');
  assert.deepEqual(await counts(first), [11, 11, 11]);
  const second = await create('second', 'ListPrice ge 995');
  assert.deepEqual(await counts(first), [6, 6, 6]);
  assert.deepEqual(await counts(second), [6, 6, 6]);
  const [key] = (await store.keys.list()).filter(({ name }) => name === 'first');
  const revoking = at.run(['key', 'revoke', '--store', address, key?.id ?? '']);
  assert.equal((await revoking).code, 0);
  assert.deepEqual(await counts(first), [401, 401, 401]);
  const { json } = await get(`${feeds[1]}/v1/listings`, first);
  assert.match(JSON.stringify(json), /"Code":1010/);
  assert.deepEqual(await counts(second), [6, 6, 6]);
});

test('a walk continues after the process that began it was killed', async () => {
  const token = await makeKey(store, 'replication');
  const path = `${root}?$top=7&$select=ListingKey&$filter=ListPrice lt 962&$orderby=ListPrice`;
  const lowest = Array.from({ length: 51 }, (_, index) => keyOf(89 - index));
  const begun = await get(`${feeds[0]}${path}`, token);
  assert.deepEqual(keysOf(rowsOf(begun)), lowest.slice(0, 7));
  const [victim] = running;
  victim?.child.kill('SIGKILL');
  await victim?.ended;
  const rest = await walk(nextOf(begun) ?? '', token, feeds.slice(1));
  assert.deepEqual(new Set(rest.states), new Set(['cached']));
  assert.deepEqual(keysOf(rest.rows), lowest.slice(7));
});
