/** I4 from midnight on: calendar rules apply at once, whichever process has the write lock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { listing, openHouse, photo, room } from '../../support/builders.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, type Viewer } from '../../support/views.ts';
import { type Json, makeWorld, operations, readPage, TIME, type World } from '../../support/world.ts';

/** Listings enter and leave the view at midnight, open houses leave it, addresses become hidden. */
const ACCESS = {
  roles: [
    ...BUILT_IN_ACCESS.roles,
    {
      name: 'partner',
      classes: ['idx', 'address'],
      resources: {
        Property: 'ListingContractDate ge {today - 3 days} or CloseDate lt {today}',
        PropertyRooms: "RoomType eq 'Kitchen'",
        OpenHouse: 'OpenHouseDate ge {today}',
        Media: '',
        Member: '',
      },
    },
  ],
  withheld: [
    {
      resource: 'Property',
      classes: ['address', 'address-facts'],
      shownWhen: 'OffMarketDate eq null or OffMarketDate ge {today}',
    },
  ],
};

const children = (name: string) => ({
  Media: [photo(`M${name}`, { MediaURL: `${name}.jpg` })],
  Rooms: [room(`K${name}`, { RoomType: 'Kitchen' }), room(`R${name}`, { RoomType: 'Bath' })],
  OpenHouses: [
    openHouse(`O${name}`, { OpenHouseDate: '2026-06-01', Media: [photo(`OM${name}`)] }),
    openHouse(`P${name}`, { OpenHouseDate: '2026-06-02', Media: [photo(`PM${name}`)] }),
  ],
});

const LISTINGS: Readonly<Record<string, Json>> = {
  Gone: { ListingContractDate: '2026-05-29', City: 'Ely', ...children('Gone') },
  Here: { ListingContractDate: '2026-06-01', City: 'Ely', ...children('Here') },
  Hides: { ListingContractDate: '2026-06-01', City: 'Ely', OffMarketDate: '2026-06-01' },
  New: { StandardStatus: 'Closed', CloseDate: '2026-06-01', City: 'Ely', ...children('New') },
  Sold: { StandardStatus: 'Closed', CloseDate: '2023-06-01', City: 'Ely', ...children('Sold') },
};

/** The keys of listings, rooms, open houses and media that a partner sees before midnight, and after it. */
const EVENING =
  'Gone,Here,Hides,Sold KGone,KHere,KSold OGone,OHere,OSold,PGone,PHere,PSold MGone,MHere,MSold,OMGone,OMHere,OMSold,PMGone,PMHere,PMSold ';
const MORNING = 'Here,Hides,New,Sold KHere,KNew,KSold PHere,PNew,PSold MHere,MNew,MSold,PMHere,PMNew,PMSold ';

const VIEWERS: readonly Viewer[] = [IDX, { role: 'partner' }];
const RESOURCES = ['Property', 'PropertyRooms', 'OpenHouse', 'Media', 'Member'];

type Reader = Omit<World, 'clock' | 'again' | 'hold' | 'damage' | 'parts' | 'copy' | 'store'> &
  Pick<World, 'store'>;

/** The list that a filter finds for each role. */
async function listsOf({ store, request }: Reader): Promise<ReadonlyMap<string, Uint32Array>> {
  const found = VIEWERS.map(async (viewer) => {
    const { query } = await request('Property', '', { viewer });
    return [viewer.role, await store.ids(query, TIME)] as const;
  });
  return new Map(await Promise.all(found));
}

/**
 * What each viewer gets from every kind of read.
 * @param lists found earlier; records hidden since are omitted from their pages
 */
async function everything(reader: Reader, lists: ReadonlyMap<string, Uint32Array>) {
  const found: Record<string, unknown> = {};
  const { store } = reader;
  for (const viewer of VIEWERS) {
    for (const resource of RESOURCES) {
      const { key } = (await store.model()).resource(resource);
      const ways = ['', `$filter=${key} ne 'never'&$orderby=${key} desc`, `$top=1&$select=${key}`];
      for (const way of ways) {
        const { records, more } = await reader.page(resource, way, { viewer });
        found[`${viewer.role} ${resource}?${way}`] = { records, more };
      }
      found[`${viewer.role} ${resource}/$count`] = [
        await reader.count(resource, '', viewer),
        await reader.count(resource, `$filter=${key} ne 'never'`, viewer),
      ];
    }
    const ask = (options: string) => reader.rows('Property', `$select=ListingKey&${options}`, { viewer });
    found[`${viewer.role} expansions and lambdas`] = [
      await ask('$expand=Media($select=MediaKey;$count=true),Rooms,OpenHouses($expand=Media)'),
      await ask("$filter=Media/any(m:contains(m/MediaKey,'M'))"),
      await ask('$filter=OpenHouses/$count eq 2'),
      await ask("$filter=City eq 'Ely'&$orderby=City"),
    ];
    const expansions = ['Photos', 'Rooms', 'OpenHouses'] as const;
    for (const name of Object.keys(LISTINGS)) {
      found[`${viewer.role} ${name}`] = [
        await reader.record('Property', name, '', { viewer }),
        await reader.record('OpenHouse', `P${name}`, '', { viewer }),
        await reader.listing(name, { viewer, expansions }),
        await store.showsFile(`${name}.jpg`, viewer.role),
      ];
    }
    const { query, shape, files } = await reader.request('Property', '', { viewer });
    const ids = lists.get(viewer.role) ?? new Uint32Array();
    const page = await store.listPage({ query, ids, limit: 10, shape, files }, TIME);
    const merged = await store.mergedPage(
      { sources: [{ query, members: [] }], skip: 0, limit: 10, files },
      TIME,
    );
    found[`${viewer.role} list`] = (await readPage(page)).records;
    found[`${viewer.role} merged`] = new TextDecoder().decode(merged);
  }
  return found;
}

/** Sleeps as the real clock does, so that a process that waits for the lock does not block the thread. */
function midnightClock(): TestClock {
  return { ...testClock('2026-06-01T23:59:59.999Z'), sleep: systemClock.sleep };
}

const keysOf = (reader: Reader) => async (role: string) =>
  (await Promise.all(RESOURCES.map((resource) => reader.keys(resource, '', { viewer: { role } })))).join(' ');

export function midnightContract(engine: Engine): void {
  test('at midnight reads are exact at once, while another process has the write lock', async (t) => {
    const clock = midnightClock();
    const world = await makeWorld(engine, t, { settings: { access: ACCESS }, clock });
    await world.write('Property', ...Object.entries(LISTINGS).map(([key, fields]) => listing(key, fields)));
    const seen = keysOf(world);
    const lists = await listsOf(world);
    const evening = await everything(world, lists);
    assert.equal(await seen('partner'), EVENING);
    const release = await world.hold();
    clock.set('2026-06-02T00:00:00Z');
    const model = await world.store.model();
    assert.deepEqual([model.day, model.visibilityDay], ['2026-06-02', '2026-06-01']);
    assert.equal(await seen('partner'), MORNING);
    assert.deepEqual(await world.keys('Property', '', { viewer: IDX }), ['Gone', 'Here', 'Hides', 'New']);
    assert.equal((await world.record('Property', 'Hides', '', { viewer: IDX }))?.City, null);
    const morning = await everything(world, lists);
    assert.equal(
      (await world.store.model()).visibilityDay,
      '2026-06-01',
      'visibility has not been evaluated meanwhile',
    );
    // A process that opens the store does not wait for the lock either.
    const other = { store: await world.again(), ...operations(await world.again(), clock) };
    assert.equal(await keysOf(other)('partner'), MORNING);
    await release();
    // A process that opens the store now evaluates the new day; the stored result equals what was computed for each read.
    const third = await world.again();
    while ((await third.model()).visibilityDay !== '2026-06-02') await setImmediate();
    assert.equal((await world.store.model()).visibilityDay, '2026-06-02');
    assert.deepEqual(await everything(world, lists), morning);
    assert.notDeepEqual(morning, evening);
    assert.equal(await other.count('Property', '', { role: 'partner' }), 4);
  });

  test('a new day is evaluated in the background when the lock is free', async (t) => {
    const clock = midnightClock();
    const world = await makeWorld(engine, t, { settings: { access: ACCESS }, clock });
    await world.write('Property', ...Object.entries(LISTINGS).map(([key, fields]) => listing(key, fields)));
    clock.set('2026-06-02T00:00:00Z');
    assert.equal(await keysOf(world)('partner'), MORNING);
    while ((await world.store.model()).visibilityDay !== '2026-06-02') await setImmediate();
    assert.equal(await keysOf(world)('partner'), MORNING);
    assert.equal(await world.count('Property', '', { role: 'partner' }), 4);
  });
}
