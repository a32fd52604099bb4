/** Pages that are made of kept blocks are byte for byte the pages that are read, whatever happens to the store meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { BlocksPage } from '../../../src/store/blocks-task.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom, type Random } from '../../oracle/random.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, operations } from '../../support/world.ts';

const SILENT = pino({ level: 'silent' });
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };
const GZIP = { 'accept-encoding': 'gzip' };
const DAY = 86_400_000;

/** Two processes that serve one store, each with what it keeps in memory, and with one file. */
async function twoServices(t: Scope, engine: Engine) {
  const clock = testClock('2026-05-30T12:00:00Z');
  const file = { path: temporaryFile('.db-pages'), identity: '', megabytes: 8 };
  const keptPages = { ...SERVICE_DEFAULTS.keptPages, file };
  const first = await startTestService(t, { engine, clock, service: { keptPages } });
  const other = await first.again();
  const pages: BlocksPage[] = [];
  const noting: Store = Object.assign(Object.create(other), {
    blocks: async (...given: Parameters<Store['blocks']>) => {
      const page = await other.blocks(...given);
      pages.push(page);
      return page;
    },
  });
  const second = await startService(
    { ...SERVICE_DEFAULTS, store: noting, clock, log: SILENT, keptPages },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
  );
  t.after(() => second.close());
  return { first, second, other, clock, pages };
}

/** Asks for a page as it is and as gzip, and compares them. @returns the text */
async function samePage(service: TestService, url: string, token: string): Promise<string> {
  const plain = await service.get('replication', url, { token });
  const packed = await service.get('replication', url, { token, headers: GZIP });
  assert.equal(plain.status, 200, plain.text);
  assert.equal(packed.status, 200, packed.text);
  const isPacked = packed.headers['content-encoding'] !== undefined;
  if (isPacked) assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(isPacked ? gunzipSync(packed.bytes).toString() : packed.text, plain.text, url);
  return plain.text;
}

const KEYS = 320;
/** Keys in another order by their bytes than by their UTF-16 units are among them. */
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

async function seeing(store: Store, rule: string): Promise<void> {
  await store.configure((settings) => ({
    ...settings,
    access: {
      ...BUILT_IN_ACCESS,
      roles: [
        ...BUILT_IN_ACCESS.roles,
        { name: 'partner', classes: ['idx', 'address'], resources: { Property: rule, Office: '' } },
      ],
    },
  }));
}

/** @param steps of each history @param seeds one for each history */
export function keptContract(
  engine: Engine,
  { steps, seeds }: { steps: number; seeds: readonly number[] },
): void {
  for (const seed of seeds) {
    test(`${engine.name}: gunzip of a kept page is the page that is read (seed ${seed})`, async (t) => {
      const { first, second, other, clock, pages } = await twoServices(t, engine);
      const random = makeRandom(seed);
      const writers = [first, operations(other, clock)];
      await seeing(first.store, 'ListingContractDate eq null or ListingContractDate ge {today}');
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
              await seeing(first.store, rule);
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
          await samePage(first, `${random.pick(bases)}${path}`, random.pick(tokens));
        }
      }
      const used = pages.filter(({ parts }) => parts.some((part) => typeof part === 'number'));
      assert.ok(used.length >= Math.floor(steps / 60), `${used.length} pages had kept blocks`);
    });
  }

  test(`${engine.name}: a second walk reads no record, and what changed is seen at once by every process`, async (t) => {
    const { first, second, pages } = await twoServices(t, engine);
    const random = makeRandom(1);
    await first.write('Office', office('O1'), office('O2'));
    await first.write(
      'Property',
      ...Array.from({ length: 200 }, (_, index) => ({
        ...randomListing(random, index + 100_000),
        ListOfficeKey: index < 100 ? 'O1' : 'O2',
        ListAgentKey: null,
        BuyerAgentKey: null,
      })),
    );
    const token = await first.key('replication');
    const walk = async (): Promise<readonly BlocksPage[]> => {
      pages.length = 0;
      let url = `${second.addresses.replication}/Reso/OData/Property?$top=100`;
      for (let more = true; more; ) {
        const { '@odata.nextLink': next }: Json = JSON.parse(await samePage(first, url, token));
        more = typeof next === 'string';
        url = String(next);
      }
      return [...pages];
    };
    const read = (walked: readonly BlocksPage[]): number =>
      walked
        .flatMap(({ parts }) => parts)
        .reduce<number>((sum, part) => sum + (typeof part === 'number' ? 0 : part.rows), 0);
    assert.equal(read(await walk()), 200);
    assert.equal(read(await walk()), 0);
    const encodingFor = async (accepted: string): Promise<unknown> => {
      const url = `${second.addresses.replication}/Reso/OData/Property?$top=100`;
      const { headers } = await first.get('replication', url, {
        token,
        headers: { 'accept-encoding': accepted },
      });
      return headers['content-encoding'];
    };
    assert.equal(await encodingFor('zstd, br, gzip'), 'gzip', 'where blocks are kept');
    assert.equal(await encodingFor('gzip;q=0.5, br'), 'br', 'the client decides');
    assert.equal(await encodingFor('gzip;q=0, *'), 'zstd');
    await first.write('Property', { ...randomListing(random, 100_050), ListPrice: 5 });
    const again = read(await walk());
    assert.ok(again > 0 && again <= 32, `${again} records were read`);
    assert.equal(read(await walk()), 0);
    await first.write('Office', office('O2', { OfficeName: 'Renamed' }));
    const renamed = read(await walk());
    assert.ok(renamed >= 100 && renamed <= 140, `${renamed} records were read`);
    await first.store.mend(undefined);
    assert.equal(read(await walk()), 200);
  });
}
