/**
 * A kept page equals the page that is built from the same frozen list (I5) and the current records (I3, I4), whatever changes in
 * between. For comparison, a request with an Accept header that no request has had before makes the service build the page.
 */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { FilterIndexCache, LIST_OVERHEAD } from '../../../src/service/paging/filter-index.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom } from '../../oracle/random.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { DAY, SECOND, testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { type Json, operations } from '../../support/world.ts';
import { setPartnerRule } from './partner-role.ts';

const ROOT = '/Reso/OData/';
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MUCH = { requests: 10_000_000, seconds: 300 };

/** Headers that differ between two responses to the same request. */
const OWN = new Set(['server-timing', 'ratelimit', 'connection', 'keep-alive', 'x-request-id']);

const over = <T extends object>(given: T, changed: Partial<T>): T =>
  Object.assign(Object.create(given), changed);

type Changes = Awaited<ReturnType<Store['changesSince']>>;

/** A service that counts its reads of the store, and a second process that writes to the same store. */
async function keepingService(
  scope: Scope,
  engine: Engine,
  {
    megabytes = 64,
    changes = (all) => all,
  }: { megabytes?: number; changes?: (all: Changes) => Changes } = {},
) {
  let reads = 0;
  const keeping = await startTestService(scope, {
    engine,
    clock: testClock('2026-05-30T12:10:00Z'),
    service: (store) => ({
      filterIndex: { minutes: 10, megabytes },
      limits: { api: MUCH, replication: MUCH, floorplans: MUCH, admin: MUCH },
      store: over(store, {
        changesSince: async (since) => changes(await store.changesSince(since)),
        record: (...given) => {
          reads++;
          return store.record(...given);
        },
        page: (...given) => {
          reads++;
          return store.page(...given);
        },
        listPage: (...given) => {
          reads++;
          return store.listPage(...given);
        },
      }),
    }),
  });
  const other = await keeping.again();
  let words = 0;
  const ask = (path: string, token: string, headers: Json = {}): Promise<Answer> =>
    keeping.get('replication', path, { token, headers: { ...headers } as Record<string, string> });
  /** Sends a request with and without a new Accept header. @returns both responses, and whether the first one read the store */
  async function both(path: string, token: string) {
    const before = reads;
    const given = await ask(path, token);
    const isRead = reads > before;
    const made = await ask(path, token, { accept: `application/json, text/x-${words++}` });
    return { given, isRead, made };
  }
  return { keeping, other, both };
}

/** The comparable part of a response. A list that is fresh for the first request is cached for the second. */
function shown({ status, headers, text }: Answer): unknown {
  const given = Object.entries(headers).filter(([name]) => !OWN.has(name));
  const index = headers['x-plat-index'] === 'fresh' ? 'cached' : headers['x-plat-index'];
  return { status, headers: { ...Object.fromEntries(given), 'x-plat-index': index }, text };
}

const FILTERS = ['ListPrice gt 300000', "StandardStatus eq 'Active'", "ListOfficeName ne 'none'"];
const ORDERS = ['', 'ListPrice desc', 'ListOfficeName,ListPrice', 'PhotosCount desc'];
const SHAPES = [
  '',
  '$count=true',
  '$skip=2',
  '$select=ListingKey,ListPrice,ListAgentFullName',
  '$expand=Media',
  '$expand=ListOffice',
];

const OTHERS = [
  `${ROOT}Property?$top=4`,
  `${ROOT}Property?$top=4&$skiptoken=L15&$expand=Media`,
  `${ROOT}Property?$top=4&$orderby=ModificationTimestamp desc`,
  `${ROOT}Property('L12')?$expand=Media,ListAgent`,
  `${ROOT}Lookup?$filter=LookupName eq 'City'`,
  `${ROOT}Lookup?$select=LookupKey`,
  '/v1/listings?_filter=ListPrice Gt 300000&_orderby=-ListPrice&_limit=4&_pagination=1',
  "/v1/listings?_filter=StandardStatus Eq 'Active'&_limit=4&_expand=Photos,CustomFields",
  '/v1/listings/L12?_expand=Photos',
];

/** The originating systems of the listings. */
const SYSTEMS = ['M1', 'M2'];

/**
 * Runs a random history of writes, clock changes and settings, with requests in between.
 * @returns the number of kept responses, and the first difference between a kept response and one that was built
 */
async function history(
  scope: Scope,
  engine: Engine,
  { steps, seed, changes }: { steps: number; seed: number; changes?: (all: Changes) => Changes },
) {
  // Room for about ten lists, so that some are evicted before they expire.
  const megabytes = (10 * (LIST_OVERHEAD + 100)) / 2 ** 20;
  const { keeping, other, both } = await keepingService(scope, engine, {
    megabytes,
    ...(changes === undefined ? {} : { changes }),
  });
  const random = makeRandom(seed);
  const writers = [keeping, operations(other, keeping.clock)];
  const randomListing = (key: number): Json =>
    listing(`L${key}`, {
      StandardStatus: random.pick(['Active', 'Active', 'Withdrawn']),
      ListPrice: random.between(1, 9) * 100_000,
      City: random.pick(['Ely', 'Wick', 'Hull', 'Rye']),
      OriginatingSystemID: SYSTEMS[key % 2],
      ListAgentKey: `A${random.between(0, 2)}`,
      ListOfficeKey: `O${random.between(0, 2)}`,
      Media: Array.from({ length: random.between(0, 2) }, (_, at) =>
        photo(`M${key}-${at}`, random.chance(0.3) ? { MediaURL: `photos/${key}-${at}.jpg` } : {}),
      ),
    });
  await keeping.write('Member', ...['A0', 'A1', 'A2'].map((key) => member(key)));
  await keeping.write('Office', ...['O0', 'O1', 'O2'].map((key) => office(key)));
  await keeping.write('Property', ...Array.from({ length: 16 }, (_, key) => randomListing(key + 10)));
  await setPartnerRule(keeping.store, 'ListPrice gt 200000');
  const tokens = await Promise.all([
    keeping.key('replication'),
    keeping.key('replication', { role: 'idx' }),
    keeping.key('replication', { role: 'partner' }),
    keeping.key('replication', { systems: ['M1'] }),
  ]);
  const links = new Map<string, string[]>();
  const anything = (token: string): string => {
    const known = links.get(token) ?? [];
    if (known.length > 0 && random.chance(0.2)) return random.pick(known);
    if (random.chance(0.35)) return random.pick(OTHERS);
    const order = random.pick(ORDERS);
    const shape = random.pick(SHAPES);
    const options = [`$filter=${random.pick(FILTERS)}`, order && `$orderby=${order}`, shape, '$top=4'];
    return `${ROOT}Property?${options.filter((each) => each !== '').join('&')}`;
  };
  let kept = 0;
  for (let step = 0; step < steps; step++) {
    const writer = random.pick(writers);
    const key = random.between(10, 27);
    switch (random.between(0, 21)) {
      case 0:
      case 1:
      case 2:
        await writer.write('Property', randomListing(key));
        break;
      case 3:
        await random.pick([keeping.store, other]).remove('Property', [`L${key}`]);
        break;
      case 4:
      case 5:
        await writer.write('Office', office(`O${random.between(0, 2)}`, { OfficeName: `Name ${step}` }));
        break;
      case 6:
      case 7:
        await writer.write('Member', member(`A${random.between(0, 2)}`, { MemberFullName: `Name ${step}` }));
        break;
      case 8:
        keeping.clock.advance(random.pick([SECOND, MINUTE, 4 * MINUTE]));
        break;
      case 9:
        if (random.chance(0.4)) keeping.clock.advance(random.pick([11 * MINUTE, HOUR, DAY]));
        break;
      case 10:
        if (random.chance(0.3)) {
          await setPartnerRule(
            keeping.store,
            random.pick(['ListPrice gt 400000', "StandardStatus eq 'Active'"]),
          );
        }
        break;
      case 11:
        if (random.chance(0.2)) await keeping.store.beginEpoch({});
        break;
      default: // nothing is written
    }
    // Each path is requested three times, so that its response is kept.
    const token = random.pick(tokens);
    const paths = [anything(token), anything(token)];
    for (const path of [...paths, ...paths, ...paths]) {
      const { given, isRead, made } = await both(path, token);
      if (!isRead && given.status === 200) kept++;
      try {
        assert.deepEqual(shown(given), shown(made));
      } catch (difference) {
        return { kept, difference: new Error(`seed ${seed}, step ${step}: ${path}`, { cause: difference }) };
      }
      const next = /"@odata.nextLink":"([^"]*)"/.exec(given.text)?.[1];
      if (next !== undefined) links.set(token, [...(links.get(token) ?? []).slice(-3), next]);
    }
    // A path of an earlier step is requested again.
    links.set(`asked ${token}`, [...(links.get(`asked ${token}`) ?? []).slice(-5), ...paths]);
    const again = random.pick(links.get(`asked ${token}`) ?? []);
    const { given, made } = await both(again, token);
    try {
      assert.deepEqual(shown(given), shown(made));
    } catch (difference) {
      return { kept, difference: new Error(`seed ${seed}, step ${step}: ${again}`, { cause: difference }) };
    }
  }
  return { kept, difference: undefined };
}

const without =
  (...resources: readonly string[]) =>
  (all: Changes): Changes =>
    all.kind === 'records'
      ? { ...all, keys: new Map([...all.keys].filter(([name]) => !resources.includes(name))) }
      : all;

/** Mutants: services that keep responses too long. */
const MUTANTS: readonly {
  readonly rule: string;
  readonly changes?: (all: Changes) => Changes;
  readonly ageOf?: FilterIndexCache['ageOf'];
}[] = [
  { rule: 'changes of listings', changes: without('Property') },
  { rule: 'renamed offices', changes: without('Office') },
  { rule: 'renamed agents', changes: without('Member') },
  { rule: 'whether the list is still walked', ageOf: async () => 0 },
];

/** @param steps number of steps of each history @param seeds one for each history @param mutants whether to test mutants, too */
export async function listsContract(
  engine: Engine,
  { steps, seeds, mutants }: { steps: number; seeds: readonly number[]; mutants: boolean },
): Promise<void> {
  for (const seed of seeds) {
    test(`${engine.name}: through a random history of writes, time, roles and evicted lists, kept pages equal built ones (seed ${seed})`, async (t) => {
      const { kept, difference } = await history(t, engine, { steps, seed });
      if (difference !== undefined) throw difference;
      assert.ok(kept > steps, `${kept} of ${7 * steps} responses were kept ones`);
    });
  }

  for (const { rule, changes, ageOf } of mutants ? MUTANTS : []) {
    test(`${engine.name}: the random history detects a service that ignores ${rule}`, async (t: TestContext) => {
      if (ageOf !== undefined) t.mock.method(FilterIndexCache.prototype, 'ageOf', ageOf);
      const { difference } = await history(t, engine, {
        steps: 400,
        seed: 1,
        ...(changes === undefined ? {} : { changes }),
      });
      assert.ok(difference !== undefined);
    });
  }

  const { keeping, other, both } = await keepingService({ after }, engine);
  const tokens = await Promise.all(
    ['private', 'private', 'idx'].map((role) => keeping.key('replication', { role })),
  );
  const [one = '', second = '', idx = ''] = tokens;
  const priced = `${ROOT}Property?$filter=ListPrice gt 0&$orderby=ListPrice desc&$top=2`;
  const keysOf = ({ json }: Answer): unknown[] =>
    Array.isArray(json.value) ? json.value.map(({ ListingKey }: Json) => ListingKey) : [];

  /** Requests a page until its response is kept. */
  async function untilKept(path: string, token: string): Promise<Answer> {
    for (let time = 0; time < 2; time++) await both(path, token);
    const { given, isRead } = await both(path, token);
    assert.equal(isRead, false, path);
    return given;
  }

  test(`${engine.name}: a page of a list is kept from its second request on, until one of its listings changes`, async () => {
    await keeping.write(
      'Property',
      ...[1, 2, 3].map((at) => listing(`P${at}`, { ListPrice: at, ListOfficeKey: 'O9' })),
    );
    const seen = [];
    for (let time = 0; time < 4; time++) seen.push(await both(priced, one));
    assert.deepEqual(
      seen.map(({ given, isRead }) => [given.headers['x-plat-index'], isRead, keysOf(given)]),
      [
        ['fresh', true, ['P3', 'P2']],
        ['cached', true, ['P3', 'P2']],
        ['cached', false, ['P3', 'P2']],
        ['cached', false, ['P3', 'P2']],
      ],
    );
    await other.remove('Property', ['P3']);
    const { given, isRead } = await both(priced, one);
    assert.deepEqual([isRead, keysOf(given)], [true, ['P2', 'P1']]);
  });

  test(`${engine.name}: a kept page reports the age of its list, and expires with the list`, async () => {
    const { headers } = await untilKept(priced, one);
    const age = Number(headers['x-plat-index-age']);
    keeping.clock.advance(2 * MINUTE);
    const later = await both(priced, one);
    assert.equal(later.isRead, false);
    assert.equal(Number(later.given.headers['x-plat-index-age']), age + 120);
    keeping.clock.advance(11 * MINUTE);
    assert.equal((await both(priced, one)).isRead, true);
  });

  test(`${engine.name}: a key gets a list of its own, even if the same page is kept for another key of its role`, async () => {
    await keeping.write('Property', listing('P5', { ListPrice: 5 }));
    await untilKept(priced, one);
    await keeping.write('Property', listing('P4', { ListPrice: 4 }));
    const { given, isRead } = await both(priced, second);
    assert.deepEqual([given.headers['x-plat-index'], isRead], ['fresh', true]);
    assert.deepEqual(keysOf(given), ['P5', 'P4']);
    assert.deepEqual(keysOf((await both(priced, one)).given), ['P2', 'P1']);
  });

  test(`${engine.name}: a listing that a role may no longer see disappears from its cached page`, async () => {
    await keeping.write('Property', listing('P6', { ListPrice: 6 }));
    assert.deepEqual(keysOf(await untilKept(priced, idx)), ['P6', 'P5']);
    await keeping.write('Property', listing('P6', { ListPrice: 6, StandardStatus: 'Withdrawn' }));
    assert.deepEqual(keysOf((await both(priced, idx)).given), ['P5', 'P4']);
  });

  test(`${engine.name}: a kept response is built again when the signatures of its file URLs are due for renewal`, async () => {
    await keeping.write('Property', listing('P7', { Media: [photo('M7', { MediaURL: 'photos/p7.jpg' })] }));
    const path = `${ROOT}Property('P7')?$expand=Media`;
    const before = (await untilKept(path, one)).text;
    assert.match(before, /\/media\/private\.\d+/);
    keeping.clock.advance(HOUR);
    const { given, made, isRead } = await both(path, one);
    assert.equal(isRead, true);
    assert.equal(given.text, made.text);
    assert.notEqual(given.text, before);
  });

  test(`${engine.name}: a response that is too large, or depends on the clock or a count, is not kept`, async () => {
    const PublicRemarks = 'A bright house. '.repeat(250);
    await keeping.write(
      'Property',
      ...Array.from({ length: 80 }, (_, at) => listing(`Q${at}`, { PublicRemarks, ListPrice: 1 })),
    );
    for (const path of [
      `${ROOT}Property?$filter=PublicRemarks ne null`,
      `${ROOT}Property?$filter=ListPrice gt 0&$compute=now() as Moment&$top=2`,
      `${ROOT}Property?$filter=ListPrice gt 0&$expand=Media($filter=ModificationTimestamp lt now())&$top=2`,
      '/v1/listings?_filter=ListPrice Gt 0&_skiptoken=P1&_pagination=1&_limit=2',
      `${ROOT}Property?$filter=ModificationTimestamp gt 2020-01-01T00:00:00Z&$top=2`,
      `${ROOT}Property?$count=true&$top=2`,
    ]) {
      for (let time = 0; time < 4; time++) assert.equal((await both(path, one)).isRead, true, path);
    }
  });

  test(`${engine.name}: a page of an ordered list is dropped when the list is evicted`, async (t) => {
    // Room for three lists.
    const few = await keepingService(t, engine, { megabytes: (3.5 * LIST_OVERHEAD) / 2 ** 20 });
    await few.keeping.write('Property', listing('P1', { ListPrice: 3 }), listing('P2', { ListPrice: 2 }));
    const token = await few.keeping.key('replication');
    const first = await few.both(priced, token);
    assert.deepEqual(keysOf(first.given), ['P1', 'P2']);
    await few.keeping.write('Property', listing('P2', { ListPrice: 4 }));
    for (let time = 0; time < 3; time++) await few.both(priced, token);
    assert.deepEqual(
      keysOf((await few.both(priced, token)).given),
      ['P1', 'P2'],
      'the order of a list is frozen',
    );
    const byCity = priced.replace('ListPrice desc', 'City');
    for (let at = 0; at < 3; at++) {
      await few.both(byCity.replace('$top=2', `$top=${at + 3}`), token);
      await few.both(`${ROOT}Property?$filter=ListPrice gt ${at + 10}`, token);
    }
    const { given, made } = await few.both(priced, token);
    assert.deepEqual(shown(given), shown(made));
  });

  if (keeping.store.shared !== undefined) {
    test(`${engine.name}: a kept page is dropped when its shared list is removed`, async () => {
      await untilKept(priced, one);
      await other.shared?.sweepLists(0);
      const { given, isRead } = await both(priced, one);
      assert.deepEqual([given.headers['x-plat-index'], isRead], ['fresh', true]);
    });
  }
}
