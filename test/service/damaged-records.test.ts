/**
 * A record with a corrupted character is still valid JSON. Once the scrub has found it, every response that would contain it
 * is refused, in both interfaces and on both engines, until it is repaired. All other responses are served.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { repairStore } from '../../src/store/check/check-store.ts';
import { Scrub } from '../../src/store/check/scrub.ts';
import { listing, member, office, photo, room } from '../support/builders.ts';
import type { Engine } from '../support/engine.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { startTestService } from '../support/service.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';

const KEYS = Array.from({ length: 210 }, (_, index) => `L${1000 + index}`);
/** Long, so that a page of all records takes a megabyte. */
const remarks = (key: string): string => `granite of ${key} ${'and a garden. '.repeat(270)}`;

/** The requests that are sent in every state of the store. */
const PATHS = {
  all: '/Reso/OData/Property?$top=1000',
  'all, native': '/v1/listings?_limit=1000',
  keys: '/Reso/OData/Property?$select=ListingKey',
  found: "/Reso/OData/Property?$filter=contains(PublicRemarks,'granite')",
  ordered: '/Reso/OData/Property?$orderby=ListPrice desc&$select=ListingKey,ListPrice',
  record: "/Reso/OData/Property('L1060')",
  field: "/Reso/OData/Property('L1060')/ListPrice",
  'record, native': '/v1/listings/L1060',
  before: '/Reso/OData/Property?$top=60',
  behind: '/Reso/OData/Property?$skiptoken=L1060',
  'behind, native': '/v1/listings?_limit=1000&_skiptoken=L1060',
  agents: '/Reso/OData/Property?$top=2&$select=ListAgentFullName',
  'an agent': "/Reso/OData/Member('M')",
  'another agent': "/Reso/OData/Member('N')",
  accounts: '/v1/accounts',
  media: '/Reso/OData/Property?$top=2&$expand=Media',
  photos: '/v1/listings/L1001/photos',
  'other photos': '/v1/listings/L1002/photos',
  'photos in listings': '/v1/listings?_limit=10&_expand=Photos',
  rooms: '/Reso/OData/PropertyRooms?$top=1',
  'number of rooms': '/Reso/OData/PropertyRooms/$count',
} as const;

type Asked = keyof typeof PATHS;

const TEXTS = {
  Property: 'property_texts',
  Member: 'member_records',
  Media: 'media_records',
  PropertyRooms: 'property_rooms_records',
} as const;

for (const engine of [sqliteEngine({ pageReaders: 1, searchReaders: 1 }), postgresEngine()]) {
  test(`${engine.name}: responses that would contain a record found to be damaged are refused, until it is repaired`, async () => {
    const { damage, store, scrub, refused, logged, pass } = await serve(engine);
    assert.deepEqual(await refused(), []);
    const wrong = (resource: keyof typeof TEXTS, key: string, from: string, to: string) =>
      damage(
        `UPDATE ${TEXTS[resource]} SET idx_values = replace(idx_values, '${from}', '${to}') WHERE _key LIKE '${key}'`,
      );

    await wrong('Property', 'L1060', 'granite', 'granjte');
    assert.deepEqual(await refused(), [], 'the scrub has not read the record yet');
    await pass();
    const listings = ['all', 'all, native', 'keys', 'found', 'ordered', 'record', 'field', 'record, native'];
    assert.deepEqual(await refused(), listings);
    assert.match(logged(), /Property L1060 no longer matches what was written/);

    await wrong('Member', 'M', 'Agent', 'Argent');
    await wrong('Media', 'PL1001', 'jpg', 'jqg');
    await pass();
    // All listings have the agent.
    const more = ['before', 'behind', 'behind, native', 'agents', 'an agent', 'accounts', 'media', 'photos'];
    const withAgent = [...listings, ...more, 'photos in listings'];
    assert.deepEqual(new Set(await refused()), new Set(withAgent));

    // The scrub remembers at most three damaged records, so with more it treats the whole resource as damaged.
    await wrong('PropertyRooms', 'RL117%', 'Kitchen', 'Kitchfn');
    await pass();
    assert.deepEqual(scrub.damagedRecords()?.get('PropertyRooms'), 'all');
    assert.deepEqual(new Set(await refused()), new Set([...withAgent, 'rooms']));

    await repairStore(store);
    await pass();
    assert.equal(await scrub.problem(), undefined);
    assert.deepEqual(await refused(), []);
  });
}

for (const engine of [sqliteEngine({ pageReaders: 1, searchReaders: 1 }), postgresEngine()]) {
  test(`${engine.name}: a filter that meets a list that is no list is refused, and the service is told to look for it`, async (t) => {
    let looks = 0;
    const world = await startTestService(t, {
      engine,
      fill: async ({ write }) =>
        void (await write('Property', listing('A', { Appliances: ['Oven'] }), listing('B'))),
      service: () => ({ onUnknownDamage: () => looks++ }),
    });
    const token = await world.key('replication');
    const ask = (path: string) => world.get('replication', path, { token });
    const filter = "$filter=Appliances/any(a:a eq 'Oven')";
    assert.equal((await ask("/Reso/OData/Property?$filter=Appliances/any(a:a eq 'Gas')")).status, 200);
    await world.damage(`UPDATE property_records SET "Appliances" = '[' WHERE _key = 'A'`);
    for (const path of [
      `/Reso/OData/Property?${filter}&$top=7`,
      "/v1/listings?_filter=Appliances Eq 'Oven'",
    ]) {
      const { status, text, headers } = await ask(path);
      assert.deepEqual([status, Number(headers['retry-after']) > 0], [503, true], text);
      assert.doesNotMatch(text, /list column|damaged/);
    }
    assert.equal(looks, 2);
    assert.equal((await ask("/Reso/OData/Property('B')")).status, 200);
    assert.equal(looks, 2);
  });
}

async function serve(engine: Engine) {
  let time = 0;
  const lines: string[] = [];
  let made: Scrub | undefined;
  const world = await startTestService(
    { after },
    {
      engine,
      fill: async ({ write }) => {
        await write('Office', office('O'));
        await write('Member', member('M', { OfficeKey: 'O' }), member('N'));
        const listings = KEYS.map((key, index) =>
          listing(key, {
            PublicRemarks: remarks(key),
            ListPrice: index,
            ListAgentKey: 'M',
            ListOfficeKey: 'O',
            Media: [photo(`P${key}`)],
            Rooms: [room(`R${key}`, { RoomType: 'Kitchen' })],
          }),
        );
        await write('Property', ...listings);
      },
      service: (store) => {
        made = new Scrub(store, {
          limits: { hours: 1, share: 100 },
          known: 3,
          sleep: async () => undefined,
          elapsed: () => time,
          onFault: () => undefined,
          onEnd: (error) => assert.ifError(error),
        });
        return {
          damaged: () => made?.damagedRecords(),
          log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
        };
      },
    },
  );
  const scrub = made;
  assert.ok(scrub);
  const token = await world.key('replication');
  /** The names of the refused requests. A refusal reveals neither which record is damaged nor how. */
  const refused = async (): Promise<Asked[]> => {
    const names: Asked[] = [];
    for (const [name, path] of entries(PATHS)) {
      const { status, text, headers } = await world.get('replication', path, { token });
      if (status === 200) {
        if (!path.endsWith('$count')) JSON.parse(text);
        continue;
      }
      assert.equal(status, 503, `${name}: ${text.slice(0, 200)}`);
      assert.ok(Number(headers['retry-after']) > 0);
      assert.doesNotMatch(text, /L1060|granjte|damaged/);
      names.push(name);
    }
    return names;
  };
  /** Runs a scrub of the whole store, after rechecking the known faults. */
  const pass = async (): Promise<void> => {
    time += 60_000;
    await scrub.problem();
    await scrub.pass();
  };
  return { ...world, scrub, refused, pass, logged: () => lines.join('') };
}

const entries = <K extends string, V>(table: Readonly<Record<K, V>>): [K, V][] => {
  const keys: string[] = Object.keys(table);
  return keys.flatMap((key) => (isKey(table, key) ? [[key, table[key]] satisfies [K, V]] : []));
};

const isKey = <K extends string>(table: Readonly<Record<K, unknown>>, key: string): key is K => key in table;
