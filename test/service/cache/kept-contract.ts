/** Pages made of kept blocks are byte for byte the pages read from the store, whatever changes in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import type { BlockForm } from '../../../src/compile/read.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { BlocksPage } from '../../../src/store/read/blocks-task.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom, type Random } from '../../oracle/random.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, operations } from '../../support/world.ts';
import { setPartnerRule } from './partner-role.ts';

const SILENT = pino({ level: 'silent' });
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };
const GZIP = { 'accept-encoding': 'gzip' };
const DAY = 86_400_000;

/** A page made of blocks, with the form that was requested. */
type Noted = BlocksPage & { readonly form: BlockForm };

/** Two processes that serve one store, with caches of their own and a common file, and a service without caches. */
async function twoServices(t: Scope, engine: Engine) {
  const clock = testClock('2026-05-30T12:00:00Z');
  const file = { path: temporaryFile('.db-pages'), identity: '', megabytes: 8 };
  const keptPages = { ...SERVICE_DEFAULTS.keptPages, file };
  const first = await startTestService(t, { engine, clock, service: { keptPages } });
  const other = await first.again();
  const pages: Noted[] = [];
  const noting: Store = Object.assign(Object.create(other), {
    blocks: async (...given: Parameters<Store['blocks']>) => {
      const page = await other.blocks(...given);
      pages.push({ ...page, form: given[0].form });
      return page;
    },
  });
  const serve = async (store: Store, keptPages: ServiceOptions['keptPages']) => {
    const service = await startService(
      { ...SERVICE_DEFAULTS, store, clock, log: SILENT, keptPages },
      { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
    );
    t.after(() => service.close());
    return service;
  };
  const second = await serve(noting, keptPages);
  const keepingNothing = await serve(other, { megabytes: 0 });
  return { first, second, keepingNothing, other, clock, pages };
}

/** The service whose client sends the requests, and the service without caches. */
interface Comparing {
  readonly first: TestService;
  readonly keepingNothing: { readonly addresses: { readonly replication: string } };
}

/**
 * Requests a page twice without compression and once as gzip, and compares each with the page of the service without caches.
 * @returns the text of the page
 */
async function samePage(
  { first: service, keepingNothing }: Comparing,
  { base, path }: { readonly base: string; readonly path: string },
  token: string,
): Promise<string> {
  const elsewhere = keepingNothing.addresses.replication;
  const read = await service.get('replication', `${elsewhere}${path}`, { token });
  assert.equal(read.status, 200, read.text);
  const expected = read.text.replaceAll(elsewhere, base);
  for (const headers of [{}, {}, GZIP]) {
    const answer = await service.get('replication', `${base}${path}`, { token, headers });
    assert.equal(answer.status, 200, answer.text);
    const encoding = answer.headers['content-encoding'];
    if (encoding !== undefined) assert.equal(encoding, 'gzip');
    const text = encoding === undefined ? answer.text : gunzipSync(answer.bytes).toString();
    assert.equal(text, expected, path);
  }
  return expected;
}

const KEYS = 320;
/** Some keys sort differently by bytes than by UTF-16 units. */
const keyOf = (index: number): string =>
  index % 40 === 0 ? `L\u{1F3E0}${index}` : index % 40 === 1 ? `L\uff5e${index}` : `L${1000 + index}`;

const randomListing = (random: Random, index: number): Json =>
  listing(keyOf(index), {
    StandardStatus: random.pick(['Active', 'Active', 'Active', 'Pending', 'Withdrawn', 'Closed']),
    CloseDate: random.pick(['2023-05-31', '2023-06-01', '2026-01-01']),
    ListPrice: random.between(1, 1e6),
    InternetAddressDisplayYN: random.chance(0.8),
    City: random.pick(['Ely', 'Wick', 'Żyżyn']),
    ListAgentKey: `A${random.between(0, 9)}`,
    BuyerAgentKey: random.chance(0.2) ? `A${random.between(0, 9)}` : null,
    ListOfficeKey: `O${random.between(0, 3)}`,
    PublicRemarks: 'A bright house. '.repeat(random.between(0, 20)),
    ...(random.chance(0.2) ? { Media: [photo(`M${index}`)] } : {}),
  });

const ROLES = ['private', 'idx', 'partner'] as const;

/** @param steps the number of steps of each history @param seeds one for each history */
export function keptContract(
  engine: Engine,
  { steps, seeds }: { steps: number; seeds: readonly number[] },
): void {
  for (const seed of seeds) {
    test(`${engine.name}: through a random history, a page of kept blocks equals the page read from the store (seed ${seed})`, async (t) => {
      const services = await twoServices(t, engine);
      const { first, second, other, clock, pages } = services;
      const random = makeRandom(seed);
      const writers = [first, operations(other, clock)];
      await setPartnerRule(first.store, 'ListingContractDate eq null or ListingContractDate ge {today}');
      await first.write('Office', ...Array.from({ length: 4 }, (_, index) => office(`O${index}`)));
      await first.write('Member', ...Array.from({ length: 10 }, (_, index) => member(`A${index}`)));
      await first.write(
        'Property',
        ...Array.from({ length: KEYS }, (_, index) => randomListing(random, index)),
      );
      const tokens = await Promise.all(ROLES.map((role) => first.key('replication', { role })));
      const bases = [first.addresses.replication, second.addresses.replication];
      for (let step = 0; step < steps; step++) {
        const writer = random.pick(writers);
        switch (random.between(0, 11)) {
          case 0:
          case 1:
          case 2:
            await writer.write('Property', randomListing(random, random.between(0, KEYS + 40)));
            break;
          case 3: {
            const many = Array.from({ length: random.between(2, 60) }, () => random.between(0, KEYS + 40));
            await writer.write(
              'Property',
              ...[...new Set(many)].map((index) => randomListing(random, index)),
            );
            break;
          }
          case 4:
            await first.store.remove('Property', [keyOf(random.between(0, KEYS))]);
            break;
          case 5:
            await writer.write(
              'Office',
              office(`O${random.between(0, 3)}`, { OfficeName: `Renamed ${step}` }),
            );
            break;
          case 6:
            await writer.write(
              'Member',
              member(`A${random.between(0, 9)}`, { MemberFullName: `Agent "${step}"` }),
            );
            break;
          case 7:
            if (random.chance(0.3)) {
              const rule = random.pick([
                'ListPrice gt 500000',
                "StandardStatus eq 'Active'",
                'CloseDate lt {today - 3 years}',
              ]);
              await setPartnerRule(first.store, rule);
            }
            break;
          case 8:
            if (random.chance(0.3)) clock.advance(DAY);
            break;
          case 9:
            if (random.chance(0.2)) await first.store.beginEpoch({});
            break;
        }
        for (let asked = 0; asked < 2; asked++) {
          const after = encodeURIComponent(
            random.pick(['', keyOf(random.between(0, KEYS)), `L${random.between(0, 1500)}`]),
          );
          const size = random.pick([64, 100, 150, 1000]);
          const path = random.pick([
            `/Reso/OData/Property?$top=${size}&$skiptoken=${after}`,
            `/Reso/OData/Property?$top=${size}&$skiptoken=${after}`,
            `/v1/listings?_limit=${size}${after === '' ? '' : `&_skiptoken=${after}`}`,
            `/Reso/OData/Office?$top=${size}`,
          ]);
          await samePage(services, { base: random.pick(bases), path }, random.pick(tokens));
        }
      }
      for (const form of ['deflated', 'text']) {
        const used = pages.filter(
          (page) => page.form === form && page.parts.some((part) => typeof part === 'number'),
        );
        assert.ok(used.length >= Math.floor(steps / 60), `${used.length} pages had kept blocks (${form})`);
      }
    });
  }

  test(`${engine.name}: a second walk reads no record, and after a change each process reads only the blocks concerned`, async (t) => {
    const services = await twoServices(t, engine);
    const { first, second, pages } = services;
    const random = makeRandom(1);
    await first.write('Office', office('O1'), office('O2'));
    await first.write(
      'Property',
      ...Array.from({ length: 200 }, (_, index) => ({
        ...randomListing(random, index + 100_000),
        ListOfficeKey: index < 100 ? 'O1' : 'O2',
        ListAgentKey: null,
        BuyerAgentKey: null,
        // Long, since small responses are kept as a whole.
        PublicRemarks: 'A bright house. '.repeat(200),
      })),
    );
    const token = await first.key('replication');
    const base = second.addresses.replication;
    const walk = async (): Promise<readonly Noted[]> => {
      pages.length = 0;
      let path = '/Reso/OData/Property?$top=100';
      for (let more = true; more; ) {
        const { '@odata.nextLink': next }: Json = JSON.parse(await samePage(services, { base, path }, token));
        more = typeof next === 'string';
        path = String(next).replace(base, '');
      }
      return [...pages];
    };
    const read = (walked: readonly Noted[], form: BlockForm = 'deflated'): number =>
      walked
        .filter((page) => page.form === form)
        .flatMap(({ parts }) => parts)
        .reduce<number>((sum, part) => sum + (typeof part === 'number' ? 0 : part.rows), 0);
    /** The records read for each form. */
    const readOf = async (): Promise<readonly number[]> => {
      const walked = await walk();
      return [read(walked), read(walked, 'text')];
    };
    assert.deepEqual(await readOf(), [200, 200]);
    assert.deepEqual(await readOf(), [0, 0]);
    const encodingFor = async (accepted: string): Promise<unknown> => {
      const url = `${second.addresses.replication}/Reso/OData/Property?$top=100`;
      const { headers } = await first.get('replication', url, {
        token,
        headers: { 'accept-encoding': accepted },
      });
      return headers['content-encoding'];
    };
    assert.equal(await encodingFor('zstd, br, gzip'), 'gzip', 'gzip is preferred where blocks are kept');
    assert.equal(await encodingFor('gzip;q=0.5, br'), 'br', 'the preference of the client comes first');
    assert.equal(await encodingFor('gzip;q=0, *'), 'zstd');
    await first.write('Property', { ...randomListing(random, 100_050), ListPrice: 5 });
    /** Adds up two walks, since a page whose texts are still being written is read from the store. */
    const readAgain = async (): Promise<readonly number[]> => {
      const [one, other] = [await readOf(), await readOf()];
      return one.map((count, index) => count + (other[index] ?? 0));
    };
    for (const again of await readAgain()) assert.ok(again > 0 && again <= 32, `${again} records were read`);
    assert.deepEqual(await readOf(), [0, 0]);
    await first.write('Office', office('O2', { OfficeName: 'Renamed' }));
    for (const renamed of await readAgain()) {
      assert.ok(renamed >= 100 && renamed <= 140, `${renamed} records were read`);
    }
    assert.deepEqual(await readOf(), [0, 0]);
    await first.store.mend(undefined);
    assert.deepEqual(await readOf(), [200, 200]);
    assert.deepEqual(await readOf(), [0, 0]);
  });
}
