/** Copies that follow delta links of random queries while random records are written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldValues } from '../../src/dictionary/index.ts';
import { testClock } from '../support/clock.ts';
import { type Engine, runsOn } from '../support/engine.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json } from '../support/world.ts';
import { DECLARATIONS, makeRecords, NOW, type Records } from './data/records.ts';
import { makeQuery, writeQuery } from './odata-query.ts';
import { makeCatalogues } from './query.ts';
import { makeRandom, type Random } from './random.ts';
import { dateText, timestampText } from './values.ts';
import { makeWorld, type Viewer } from './world.ts';

const ONLY = process.env.PLAT_SEED;
const isFull = process.env.PLAT_FULL === '1';
const UNLIMITED = { requests: 1e9, seconds: 300 };
const LIMITS = { api: UNLIMITED, replication: UNLIMITED, floorplans: UNLIMITED, admin: UNLIMITED };
const BUDGET = {
  requests: 250,
  megabytes: 512,
  totalMegabytes: 1024,
  searchSeconds: 1e9,
  windowSeconds: 300,
};

/** The number of the market's listings; all of the odd ones are included as well. */
const LISTINGS = 20;
const WRITTEN = [
  'Property',
  'Property',
  'Property',
  'Media',
  'Media',
  'OpenHouse',
  'PropertyRooms',
  'Member',
  'Office',
];

/** The options of queries for listings besides filter and order. */
const SHOWN = [
  '',
  '$select=ListingKey,ListPrice,City,ListAgentFullName,ListOfficeName',
  '$select=ListingKey&$expand=Media($select=MediaKey,Order,ShortDescription;$orderby=Order desc;$top=3)',
  '$select=ListingKey,City&$expand=ListAgent($select=MemberFullName;$expand=Office($select=OfficeName)),BuyerOffice',
  '$select=ListingKey&$expand=OpenHouses($filter=OpenHouseDate ne null),Rooms($count=true),ListOffice($expand=Media)',
  '$select=ListingKey,StandardStatus&$search=house OR garden',
  '$select=ListingKey,ListAgentPreferredPhone',
];

interface Follower {
  readonly name: string;
  readonly viewer: Viewer;
  readonly resource: string;
  readonly key: string;
  readonly path: string;
  readonly token: string;
  readonly surface: 'api' | 'replication';
  readonly copy: Map<string, Json>;
  link: string;
}

/** The market without most of its listings. */
function small({ byResource, dictionary }: Records): Records {
  const listings = byResource.get('Property') ?? [];
  const kept = listings.filter((_, index) => index < LISTINGS || index >= 500);
  const keys = new Set(kept.map(({ ListingKey }) => ListingKey));
  const parentOf = ({ ListingKey, ResourceRecordKey }: FieldValues) => ResourceRecordKey ?? ListingKey;
  const others = [...byResource].map(([name, records]): [string, readonly FieldValues[]] => {
    if (name === 'Property') return [name, kept];
    const isChild = ['Media', 'PropertyRooms', 'PropertyUnitTypes', 'OpenHouse'].includes(name);
    return [name, isChild ? records.filter((record) => keys.has(parentOf(record) ?? '')) : records];
  });
  return { dictionary, byResource: new Map(others) };
}

/** A record with some values of another one, but its own key and system. */
function mixed(record: FieldValues, other: FieldValues, key: string, random: Random): Json {
  const isOwn = (name: string): boolean =>
    name === key || /System|^Source|^ModificationTimestamp$/.test(name);
  const taken = Object.entries(other).filter(([name]) => !isOwn(name) && random.chance(0.3));
  return { ...record, ...Object.fromEntries(taken) };
}

/** Writes and deletes records at random. @param look is called after each commit */
async function writeSome(
  service: TestService,
  { byResource, dictionary }: Records,
  random: Random,
  look: () => Promise<void>,
): Promise<void> {
  for (let left = random.between(1, 4); left > 0; left--) {
    const resource = random.pick(WRITTEN);
    const { key = '' } = dictionary.resources.get(resource) ?? {};
    const pool = byResource.get(resource) ?? [];
    const records = Array.from({ length: random.between(1, 3) }, () => random.pick(pool));
    const unique = [...new Map(records.map((record) => [record[key], record])).values()];
    if (random.chance(0.2)) {
      await service.store.remove(
        resource,
        unique.map((record) => String(record[key])),
      );
    } else {
      await service.write(resource, ...unique.map((record) => mixed(record, random.pick(pool), key, random)));
    }
    await look();
  }
}

/** Queries that are followed at the same time: each change is looked at for each of them, and the oldest ends first. */
const MOST_FOLLOWERS = 30;
/** Changes during one walk: pages of one record would never catch up with a writer that does not pause. */
const MOST_CHANGES = 10;

export function deltaOracle(engine: Engine): void {
  test('a copy that follows the delta links of random queries equals a fresh walk, and receives no hidden key', async (t) => {
    const records = small(makeRecords());
    const world = makeWorld(records.dictionary, dateText(NOW), records.byResource);
    const catalogueOf = makeCatalogues(world);
    const service = await startTestService(t, {
      engine,
      clock: testClock(timestampText(NOW)),
      settings: { owner: 'replica', declarations: DECLARATIONS },
      fill: async ({ write }) => {
        for (const [name, list] of records.byResource) await write(name, ...list);
      },
      service: { limits: LIMITS, budget: BUDGET, filterIndex: { minutes: 0, megabytes: 1 } },
    });
    const tokens = new Map<string, string>();
    const seen = new Map<string, Set<string>>();
    const viewers = new Map<string, { readonly viewer: Viewer; readonly resource: string }>();
    const random = makeRandom(Number(ONLY ?? 14));

    const ask = async ({ surface, token }: Follower, path: string, prefer?: string): Promise<Json> => {
      const headers: Record<string, string> = prefer === undefined ? {} : { prefer };
      const answer = await service.get(surface, path, { token, headers });
      assert.equal(answer.status, 200, `${path}\n${answer.text}`);
      return answer.json;
    };
    const rowsOf = ({ value }: Json): Json[] => (Array.isArray(value) ? value : assert.fail('no rows'));
    const keyOf = (follower: Follower, row: Json): string => String(row[follower.key]);
    const size = (): string => `odata.maxpagesize=${random.pick([isFull ? 1 : 7, 13, 31, 100, 1000])}`;

    async function look(): Promise<void> {
      for (const [id, { viewer, resource }] of viewers) {
        const { role, system } = viewer;
        const systems = system === undefined ? {} : { systems: [system] };
        const known = seen.get(id) ?? new Set();
        seen.set(id, known);
        const { key } = (await service.store.model()).resource(resource);
        for (const each of await service.keys(resource, `$select=${key}`, { viewer: { role, ...systems } }))
          known.add(each);
      }
    }
    const change = (): Promise<void> => writeSome(service, records, random, look);

    /** @returns undefined for a query whose changes cannot be tracked */
    async function begin(seed: number): Promise<Follower | undefined> {
      const query = makeQuery(seed, world, NOW, catalogueOf);
      const { resource, viewer } = query;
      const asked = writeQuery(seed % 6 === 0 ? { ...query, filter: undefined } : query, makeRandom(-seed));
      const shown = resource === 'Property' && !asked.includes('ompute=') ? random.pick(SHOWN) : '';
      const options = [asked, encodeURI(shown)].filter((each) => each !== '').join('&');
      const surface = random.pick(['api', 'replication'] as const);
      const id = JSON.stringify([surface, viewer]);
      const systems = viewer.system === undefined ? [] : [viewer.system];
      const token = tokens.get(id) ?? (await service.key(surface, { role: viewer.role, systems }));
      tokens.set(id, token);
      const path = `/Reso/OData/${resource}${options === '' ? '' : `?${options}`}`;
      const name = `PLAT_SEED=${ONLY ?? 14}, query ${seed} of ${JSON.stringify(viewer)}: ${decodeURIComponent(path.replaceAll('+', ' '))}`;
      const { key = '' } = records.dictionary.resources.get(resource) ?? {};
      const follower: Follower = {
        name,
        viewer,
        resource,
        key,
        path,
        token,
        surface,
        copy: new Map(),
        link: '',
      };
      viewers.set(JSON.stringify([viewer, resource]), { viewer, resource });
      await look();
      let page = await ask(follower, path, `odata.track-changes,${size()}`);
      for (;;) {
        for (const row of rowsOf(page)) follower.copy.set(keyOf(follower, row), row);
        const { '@odata.nextLink': next, '@odata.deltaLink': delta } = page;
        if (typeof delta === 'string') return { ...follower, link: delta };
        if (typeof next !== 'string') return undefined;
        if (random.chance(0.2)) await change();
        page = await ask(follower, next);
      }
    }

    /** Applies the changes. @param isQuiet whether nothing is written at the same time */
    async function follow(follower: Follower, isQuiet: boolean): Promise<void> {
      const prefer = random.chance(0.5) ? size() : undefined;
      const visible = seen.get(JSON.stringify([follower.viewer, follower.resource]));
      let changes = isQuiet ? 0 : MOST_CHANGES;
      for (let pages = 0; ; pages++) {
        assert.ok(pages < 5000, `${follower.name}: no end`);
        const page = await ask(follower, follower.link, prefer);
        const keys = rowsOf(page).map((row) => keyOf(follower, row));
        assert.equal(new Set(keys).size, keys.length, `${follower.name}: a record twice in a page`);
        for (const row of rowsOf(page)) {
          const key = keyOf(follower, row);
          assert.ok(visible?.has(key), `${follower.name}: ${key} was never seen`);
          if ('@removed' in row) follower.copy.delete(key);
          else follower.copy.set(key, row);
        }
        const { '@odata.nextLink': next, '@odata.deltaLink': delta } = page;
        follower.link = String(next ?? delta);
        if (next === undefined) return;
        if (changes > 0 && random.chance(0.2)) {
          changes--;
          await change();
        }
      }
    }

    async function compare(follower: Follower): Promise<void> {
      const fresh = new Map<string, Json>();
      for (let at: unknown = follower.path; typeof at === 'string'; ) {
        const page = await ask(follower, at);
        for (const row of rowsOf(page)) fresh.set(keyOf(follower, row), row);
        at = page['@odata.nextLink'];
      }
      const texts = (copy: ReadonlyMap<string, Json>): string[] =>
        [...copy.values()].map((row) => JSON.stringify(row)).toSorted();
      assert.deepEqual(texts(follower.copy), texts(fresh), follower.name);
    }

    async function finish(follower: Follower): Promise<void> {
      await follow(follower, true);
      await compare(follower);
    }

    const followers: Follower[] = [];
    let refused = 0;
    const count = isFull ? 200 : Math.max(2, runsOn(engine, 10));
    for (let seed = 1; seed <= count; seed++) {
      const follower = await begin(seed);
      if (follower === undefined) refused++;
      else followers.push(follower);
      await change();
      const one = random.among(followers);
      if (one !== undefined) await follow(one, false);
      const other = random.among(followers);
      if (other !== undefined) await finish(other);
      const oldest = followers.length > MOST_FOLLOWERS ? followers.shift() : undefined;
      if (oldest !== undefined) await finish(oldest);
    }
    for (const follower of followers) await finish(follower);
    assert.ok(refused < count / 4, `${refused} of ${count} cannot be followed`);
  });
}
