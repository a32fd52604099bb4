/** A kept response equals the response that would be built, whatever changes in the store in between. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { type Service, startService } from '../../../src/service/service.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom } from '../../oracle/random.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { encoded, startTestService, type TestService } from '../../support/service.ts';
import { type Json, operations } from '../../support/world.ts';

const ROOT = '/Reso/OData/';
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };

const over = <T extends object>(given: Store, changed: T): Store =>
  Object.assign(Object.create(given), changed);

/** A service with the log of its reads, and another service of the same store that keeps no responses. */
async function keepingAndPlain(
  scope: Scope,
  engine: Engine,
): Promise<{
  readonly keeping: TestService;
  readonly plain: Service;
  readonly other: Store;
  readonly reads: string[];
}> {
  const reads: string[] = [];
  const keeping = await startTestService(scope, {
    engine,
    clock: testClock('2026-05-30T12:00:00Z'),
    service: (store) => ({
      store: over(store, {
        record: (...given: Parameters<Store['record']>) => {
          reads.push(given[0].key);
          return store.record(...given);
        },
        page: (...given: Parameters<Store['page']>) => {
          reads.push('page');
          return store.page(...given);
        },
      }),
    }),
  });
  const other = await keeping.again();
  const blind = over(other, {
    look: async (token: string) => ({ ...(await other.look(token)), commit: undefined }),
    assume: undefined,
  });
  const plain = await startService(
    { ...SERVICE_DEFAULTS, store: blind, clock: keeping.clock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
  );
  scope.after(() => plain.close());
  return { keeping, plain, other, reads };
}

const randomListing = (random: ReturnType<typeof makeRandom>, key: number): Json =>
  listing(`L${key}`, {
    StandardStatus: random.pick(['Active', 'Active', 'Withdrawn']),
    ListPrice: random.between(1, 1e6),
    ListAgentKey: `A${random.between(0, 2)}`,
    ListOfficeKey: `O${random.between(0, 2)}`,
    ...(random.chance(0.3) ? { Media: [photo(`M${key}`)] } : {}),
  });

const record = `${ROOT}Property('L50')`;

/** @param steps the number of steps of the random history */
export async function repliesContract(engine: Engine, steps: number): Promise<void> {
  const { keeping, plain, other, reads } = await keepingAndPlain({ after }, engine);
  const tokens = await Promise.all(['private', 'idx'].map((role) => keeping.key('replication', { role })));

  /** Sends a request to both services and compares the responses. @returns the first one, and whether it read the store */
  async function both(
    path: string,
    token: string | undefined,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const before = reads.length;
    const kept = await keeping.get('replication', path, { token, headers });
    const isRead = reads.length > before;
    const made = await keeping.get('replication', plain.addresses.replication + encoded(path), {
      token,
      headers,
    });
    const [own, its] = [keeping.addresses.replication, plain.addresses.replication];
    const shown = ({ status, headers: given, text }: typeof kept) => ({
      status,
      text: text.replaceAll(its, own),
      names: Object.keys(given).toSorted(),
      type: given['content-type'],
      applied: given['preference-applied'],
    });
    assert.deepEqual(shown(kept), shown(made), path);
    return { answer: kept, isRead };
  }

  test(`${engine.name}: through a random history of writes by two processes and of days, kept responses equal built ones`, async () => {
    const random = makeRandom(7);
    const writers = [keeping, operations(other, keeping.clock)];
    await keeping.write('Member', ...['A0', 'A1', 'A2'].map((key) => member(key)));
    await keeping.write('Office', ...['O0', 'O1', 'O2'].map((key) => office(key)));
    await keeping.write(
      'Property',
      ...Array.from({ length: 30 }, (_, key) => randomListing(random, key + 10)),
    );
    const keys = (from: string) =>
      `${ROOT}Property?$top=7&$select=ListingKey${from && `&$skiptoken=${from}`}`;
    let asked = 0;
    let kept = 0;
    for (let step = 0; step < steps; step++) {
      const writer = random.pick(writers);
      const key = random.between(10, 42);
      switch (random.between(0, 9)) {
        case 0:
        case 1:
          await writer.write('Property', randomListing(random, key));
          break;
        case 2:
          await random.pick([keeping.store, other]).remove('Property', [`L${key}`]);
          break;
        case 3:
          await writer.write('Office', office(`O${random.between(0, 2)}`, { OfficeName: `Name ${step}` }));
          break;
        case 4:
          await writer.write(
            'Member',
            member(`A${random.between(0, 2)}`, { MemberPreferredPhone: `${step}` }),
          );
          break;
        case 5:
          keeping.clock.advance(random.pick([1000, 86_400_000]));
          break;
        default: // nothing is written
      }
      for (const token of tokens) {
        for (const path of [
          `${ROOT}Property('L${random.between(10, 20)}')`,
          `/v1/listings/L${random.between(10, 20)}`,
          `${ROOT}Office('O${random.between(0, 2)}')`,
          keys(random.pick(['', 'L16', 'L25', 'L34'])),
        ]) {
          asked++;
          if (!(await both(path, token)).isRead) kept++;
        }
      }
    }
    assert.ok(kept > asked / 8, `${kept} of ${asked} responses were kept ones`);
  });

  test(`${engine.name}: a record or a page of keys is read twice, and then comes from the cache`, async () => {
    await keeping.write('Property', listing('L50'), listing('L51'));
    const page = `${ROOT}Property?$select=ListingKey&$top=2`;
    for (const path of [record, '/v1/listings/L50', page]) {
      const seen = [await both(path, tokens[0]), await both(path, tokens[0]), await both(path, tokens[0])];
      assert.deepEqual(
        seen.map(({ isRead }) => isRead),
        [true, true, false],
        path,
      );
    }
  });

  test(`${engine.name}: a request with other headers, options or another role gets a response of its own`, async () => {
    await both(record, tokens[0]);
    const variants: Readonly<Record<string, string>>[] = [
      { prefer: 'omit-values=nulls' },
      { 'odata-maxversion': '4.0' },
      { accept: '*/*' },
    ];
    for (const headers of variants) {
      const seen = [];
      for (let time = 0; time < 3; time++) seen.push((await both(record, tokens[0], headers)).isRead);
      assert.deepEqual(seen, [true, true, false]);
    }
    assert.equal((await both(record, tokens[1])).isRead, true);
    assert.equal((await both(`${record}?$select=ListPrice`, tokens[0])).isRead, true);
  });

  test(`${engine.name}: a response shows every commit before its request, even among concurrent requests`, async () => {
    let committed = 0;
    let isOver = false;
    const read = async (): Promise<void> => {
      while (!isOver) {
        const before = committed;
        const { json } = await keeping.get('replication', `${ROOT}Property('L70')`, { token: tokens[0] });
        assert.ok(Number(json.ListPrice) >= before, `${json.ListPrice} after ${before}`);
      }
    };
    await keeping.write('Property', listing('L70', { ListPrice: 0 }));
    const readers = Promise.all(Array.from({ length: 6 }, read));
    const writer = operations(other, keeping.clock);
    for (let price = 1; price <= steps; price++) {
      await writer.write('Property', listing('L70', { ListPrice: price }));
      committed = price;
    }
    isOver = true;
    await readers;
  });

  test(`${engine.name}: a kept response answers If-None-Match with 304, and a request without a key gets 401`, async () => {
    const { etag } = (await both(record, tokens[0])).answer.headers;
    const { answer, isRead } = await both(record, tokens[0], { 'if-none-match': String(etag) });
    assert.deepEqual([answer.status, answer.text, isRead], [304, '', false]);
    assert.equal((await both(record, undefined)).answer.status, 401);
  });

  test(`${engine.name}: a kept page of keys loses or gains its nextLink when the record after it is deleted or added`, async () => {
    await keeping.write('Property', listing('z1'), listing('z2'));
    const last = `${ROOT}Property?$select=ListingKey&$top=1&$skiptoken=z`;
    const linkOf = async () => (await both(last, tokens[0])).answer.json['@odata.nextLink'];
    assert.equal(typeof (await linkOf()), 'string');
    assert.equal(typeof (await linkOf()), 'string');
    await other.remove('Property', ['z2']);
    assert.equal(await linkOf(), undefined);
    await keeping.write('Property', listing('z15'));
    assert.equal(typeof (await linkOf()), 'string');
    await other.remove('Property', ['z1']);
    assert.equal(await linkOf(), undefined);
  });

  test(`${engine.name}: kept responses of an abandoned timeline are dropped when a store was restored without plat`, async (t) => {
    const world = await keepingAndPlain(t, engine);
    const { damage, store, get, key } = world.keeping;
    const { columnsTable, textsTable, search } = (await store.model()).layout('Property');
    await world.keeping.write('Property', listing('L1', { ListPrice: 1 }), listing('L2'));
    const tables = [
      columnsTable,
      textsTable,
      search?.table ?? '',
      'plat_changes',
      'plat_sequence',
      'plat_meta',
    ];
    await damage(...tables.map((table) => `CREATE TABLE saved_${table} AS SELECT * FROM ${table}`));
    await world.keeping.write('Property', listing('L1', { ListPrice: 2 }));
    const token = await key('replication');
    const priceOf = async (path: string): Promise<unknown> => {
      const { json } = await get('replication', path, { token });
      return Array.isArray(json.value) ? json.value[0]?.ListPrice : json.ListPrice;
    };
    const paths = [`${ROOT}Property('L1')`, `${ROOT}Property?$select=ListPrice&$top=1`];
    for (const path of [...paths, ...paths, ...paths]) assert.equal(await priceOf(path), 2);
    await damage(
      ...tables.flatMap((table) => [
        `DELETE FROM ${table}`,
        `INSERT INTO ${table} SELECT * FROM saved_${table}`,
      ]),
    );
    const writer = operations(await world.keeping.again(), world.keeping.clock);
    await writer.write('Property', listing('L2', { ListPrice: 3 }));
    await writer.write('Property', listing('L2', { ListPrice: 4 }));
    for (const path of paths) assert.equal(await priceOf(path), 1, path);
  });

  test(`${engine.name}: a response that depends on more than its records is not kept`, async () => {
    await keeping.write('Property', listing('L60', { Media: [photo('M60')] }));
    for (const path of [
      `${record}?$expand=Media($filter=MediaURL ne null)`,
      `${record}?$compute=now() as Moment`,
      `${ROOT}Media('M60')`,
      `${ROOT}Property('L60')/Media('M60')`,
      `${ROOT}Property?$select=ListingKey&$count=true`,
      `${ROOT}Property?$top=1&$compute=now() as Moment`,
      `${ROOT}Property?$top=1&$orderby=ListOffice/OfficeName`,
    ]) {
      const reading = reads.length;
      await both(path, tokens[0]);
      const first = reads.length - reading;
      for (let time = 0; time < 2; time++) await both(path, tokens[0]);
      assert.equal(reads.length - reading, 3 * first, path);
    }
  });
}
