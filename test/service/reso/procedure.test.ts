/**
 * Specification 4.4, followed to the letter by a minimal consumer: initial download, update windows, purge. After each round its
 * copy equals the records that the key may see, whatever has changed in between.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { standardDictionary } from '../../../src/dictionary/index.ts';
import { listing, member, photo } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { type Asker, asker } from './asker.ts';

/** A change at the source while the consumer works. */
type Change =
  | {
      readonly kind: 'put';
      readonly key: number;
      readonly price: number;
      readonly status: string;
      readonly photos: number;
    }
  | { readonly kind: 'remove'; readonly key: number }
  | { readonly kind: 'agent'; readonly phone: number };

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      key: fc.integer({ min: 10, max: 35 }),
      price: fc.integer({ min: 1, max: 5 }),
      status: fc.constantFrom('Active', 'Pending', 'Withdrawn'),
      photos: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), key: fc.integer({ min: 10, max: 35 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('agent' as const), phone: fc.integer({ min: 1, max: 9 }) }),
  },
);

/** The changes between consecutive requests of the consumer. */
const between = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 30, maxLength: 30 });

async function apply(service: TestService, changes: readonly Change[]): Promise<void> {
  for (const each of changes) {
    service.clock.advance(1700);
    switch (each.kind) {
      case 'put': {
        const key = String(each.key);
        const Media = Array.from({ length: each.photos }, (_, at) => photo(`${key}-${at}`));
        await service.write(
          'Property',
          listing(key, { ListPrice: each.price, StandardStatus: each.status, ListAgentKey: 'A1', Media }),
        );
        break;
      }
      case 'remove':
        await service.store.remove('Property', [String(each.key)]);
        break;
      case 'agent':
        await service.write('Member', member('A1', { MemberPreferredPhone: `555-${each.phone}` }));
        break;
    }
  }
}

const JOINED = new Set(
  [...(standardDictionary().resources.get('Property')?.fields.values() ?? [])]
    .filter(({ joined }) => joined !== undefined)
    .map(({ name }) => name),
);

/** A listing without its agent and office fields, which rule 5 reads from the Member and Office records. */
const ownPart = (row: Json): Json =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !JOINED.has(name)));

/** The consumer, and its copy. */
class Consumer {
  readonly copy = new Map<string, Json>();
  readonly #feed: Asker;
  readonly #happens: () => Promise<void>;
  readonly #clock: TestService['clock'];
  #until: string;

  constructor(feed: Asker, clock: TestService['clock'], happens: () => Promise<void>) {
    this.#feed = feed;
    this.#happens = happens;
    this.#clock = clock;
    this.#until = this.#now();
  }

  /** A time that is no record's timestamp, since both bounds of a window are exclusive. */
  #now(): string {
    this.#clock.advance(7);
    const text = this.#clock.text();
    this.#clock.advance(5 * SECOND);
    return text;
  }

  async #walk(path: string, take: (rows: readonly Json[]) => void, bySkip = 0): Promise<void> {
    let next: string | undefined = bySkip > 0 ? `${path}&$top=${bySkip}&$skip=0` : path;
    for (let step = 1; next !== undefined; step++) {
      const page = await this.#feed.page(next);
      take(page.rows);
      await this.#happens();
      next =
        bySkip > 0
          ? page.rows.length === 0
            ? undefined
            : `${path}&$top=${bySkip}&$skip=${step * bySkip}`
          : page.next;
    }
  }

  #store(rows: readonly Json[]): void {
    for (const row of rows) this.copy.set(String(row.ListingKey), ownPart(row));
  }

  /** Rule 1. The first window begins at the start of the download. */
  async download(bySkip = 0): Promise<void> {
    this.#until = this.#now();
    await this.#walk('Property?$count=true', (rows) => this.#store(rows), bySkip);
  }

  /** Rule 3. Media are fetched again with each changed listing. */
  async update(): Promise<void> {
    const [from, to] = [this.#until, this.#now()];
    const window = `(ModificationTimestamp gt ${from} and ModificationTimestamp lt ${to})`;
    await this.#walk(`Property?$top=4&$filter=${window}&$expand=Media`, (rows) => this.#store(rows));
    this.#until = to;
  }

  /** Rule 4. */
  async purge(): Promise<void> {
    const seen = new Set<string>();
    await this.#walk('Property?$top=5&$select=ListingKey', (rows) => {
      for (const { ListingKey } of rows) seen.add(String(ListingKey));
    });
    for (const key of this.copy.keys()) if (!seen.has(key)) this.copy.delete(key);
  }
}

async function seenNow(feed: Asker): Promise<Json[]> {
  const { rows } = await feed.page('Property?$top=1000&$orderby=ListingKey&$expand=Media');
  return rows.map(ownPart);
}

test('4.4 initial download, update and purge make a copy equal to its source, which changes all the time', async () => {
  await fc.assert(
    fc.asyncProperty(between, fc.constantFrom('idx', 'private'), async (script, role) => {
      const works: (() => Promise<void> | void)[] = [];
      const scope = { after: (work: () => Promise<void> | void) => void works.push(work) };
      const service = await startTestService(scope);
      try {
        const initial = Array.from(
          { length: 20 },
          (_, at): Change => ({ kind: 'put', key: 10 + at, price: 1, status: 'Active', photos: at % 3 }),
        );
        await apply(service, initial);
        const feed = asker(service, 'replication', await service.key('replication', { role }));
        const pending = [...script];
        const consumer = new Consumer(feed, service.clock, () => apply(service, pending.shift() ?? []));
        await consumer.download();
        await consumer.update();
        await consumer.purge();
        await consumer.update();
        await consumer.purge();
        while (pending.length > 0) await apply(service, pending.shift() ?? []);
        await consumer.update();
        await consumer.purge();
        assert.deepEqual(
          [...consumer.copy.values()].map((row) => row.ListingKey).toSorted(),
          (await seenNow(feed)).map((row) => row.ListingKey),
        );
        for (const row of await seenNow(feed)) {
          const { Media, ...kept } = consumer.copy.get(String(row.ListingKey)) ?? {};
          const { Media: now, ...rest } = row;
          assert.deepEqual(kept, rest);
          if (Media !== undefined) assert.deepEqual(Media, now);
        }
      } finally {
        for (const work of works.toReversed()) await work();
      }
    }),
    { seed: 20260603, numRuns: process.env.PLAT_FULL === '1' ? 50 : 6 },
  );
});

test('4.4.2 paging by $skip repeats a listing if another is added before it, and loses none', async () => {
  const service = await startTestService({ after });
  await service.write('Property', ...Array.from({ length: 10 }, (_, at) => listing(String(20 + at))));
  const feed = asker(service, 'replication', await service.key('replication'));
  const first = await feed.keys('Property?$top=4&$skip=0');
  await service.write('Property', listing('10'));
  const second = await feed.keys('Property?$top=4&$skip=4');
  assert.deepEqual(
    [first, second],
    [
      ['20', '21', '22', '23'],
      ['23', '24', '25', '26'],
    ],
  );
});

test('4.4.1 following nextLink repeats no listing, whatever is added or deleted', async () => {
  const service = await startTestService({ after });
  await service.write('Property', ...Array.from({ length: 10 }, (_, at) => listing(String(20 + at))));
  const feed = asker(service, 'replication', await service.key('replication'));
  const first = await feed.page('Property?$top=4&$select=ListingKey');
  await service.write('Property', listing('10'), listing('235'), listing('30'));
  await service.store.remove('Property', ['23', '26']);
  assert.deepEqual(await feed.walk(first.next ?? ''), [
    ['235', '24', '25', '27'],
    ['28', '29', '30'],
  ]);
});

test('4.4.3 a change of media moves ModificationTimestamp and the corresponding ChangeTimestamp', async () => {
  const service = await startTestService({ after });
  const feed = asker(service, 'replication', await service.key('replication'));
  const stamps =
    '$select=ModificationTimestamp,PhotosChangeTimestamp,VideosChangeTimestamp,DocumentsChangeTimestamp,OpenHousesChangeTimestamp';
  await service.write('Property', listing('1', { Media: [] }));
  const moved: unknown[] = [];
  const kinds = { Photo: 'P', 'Floor Plan': 'F', Video: 'V', 'Branded Virtual Tour': 'T', Document: 'D' };
  const Media: Json[] = [];
  for (const [category, key] of Object.entries(kinds)) {
    const before = await feed.record(`Property('1')?${stamps}`);
    service.clock.advance(60_000);
    Media.push(photo(key, { MediaCategory: category }));
    await service.write('Property', listing('1', { Media }));
    const now = await feed.record(`Property('1')?${stamps}`);
    moved.push(Object.keys(now).filter((name) => now[name] !== before[name]));
  }
  const both = (name: string) => ['ModificationTimestamp', name];
  assert.deepEqual(moved, [
    both('PhotosChangeTimestamp'),
    both('PhotosChangeTimestamp'),
    both('VideosChangeTimestamp'),
    both('VideosChangeTimestamp'),
    both('DocumentsChangeTimestamp'),
  ]);
});
