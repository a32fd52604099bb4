/** The sequence of changes as readers get it: the entries that each of them may see, and the valid positions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BUILT_IN_ACCESS, MOST_BITS, type RoleDefinition } from '../../../src/access/index.ts';
import {
  type Change,
  type FeedPage,
  type FeedPosition,
  parsePosition,
  positionText,
  type RecordChange,
  SEQUENCE_START,
} from '../../../src/store/changes/change-feed.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, openHouse, photo, room } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { IDX, PRIVATE, type Viewer, viewOf } from '../../support/views.ts';
import { makeWorld, operations, type World } from '../../support/world.ts';
import { anyStep, SYSTEMS, take } from './random-market.ts';

const VIEWERS: readonly Viewer[] = [
  PRIVATE,
  IDX,
  { role: 'vow' },
  ...SYSTEMS.map((system) => ({ role: 'private', systems: [system] })),
  { role: 'idx', systems: SYSTEMS.slice(0, 1) },
];
const RESOURCES = ['Property', 'Media', 'PropertyRooms', 'OpenHouse'];

type Page = FeedPage & { readonly kind: 'changes' };

async function pageOf(
  store: Store,
  since: FeedPosition | 'end',
  viewer?: Viewer,
  limit = 1000,
): Promise<Page> {
  const scope = viewer === undefined ? undefined : viewOf(await store.model(), viewer).scope;
  const page = await store.feed({ since, scope, resources: RESOURCES, limit });
  assert.ok(page.kind === 'changes', page.kind);
  // A position can be written to text and parsed again.
  return { ...page, position: parsePosition(positionText(page.position)) ?? assert.fail() };
}

/** All changes since a position, in pages of a size. */
async function changesSince(store: Store, since: FeedPosition, viewer?: Viewer, limit?: number) {
  const changes: RecordChange[] = [];
  for (let position = since; ; ) {
    const page = await pageOf(store, position, viewer, limit);
    assert.ok(page.isLevel || page.position.sequence > position.sequence, 'each page moves the position');
    changes.push(...page.changes);
    position = page.position;
    if (page.isLevel) return { changes, position };
  }
}

const linesOf = (changes: readonly RecordChange[]): string[] =>
  changes.map(({ resource, key, kind }) => `${kind} ${resource} ${key}`);

/** What a reader has after it has applied changes: keys by resource. */
function follow(copy: Set<string>, changes: readonly RecordChange[]): void {
  for (const { resource, key, kind } of changes) {
    if (kind === 'deleted') copy.delete(`${resource} ${key}`);
    else copy.add(`${resource} ${key}`);
  }
}

async function seenBy(world: Pick<World, 'keys'>, viewer: Viewer): Promise<string[]> {
  const found = await Promise.all(
    RESOURCES.map(async (resource) =>
      (await world.keys(resource, '', { viewer })).map((key) => `${resource} ${key}`),
    ),
  );
  return found.flat().toSorted();
}

export function feedContract(engine: Engine): void {
  test('a follower of the sequence ends with exactly the records it sees, and gets no entry for a record that it never saw', async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, limit) => {
          const world = await makeWorld(engine, t);
          const copies = VIEWERS.map((viewer) => ({
            viewer,
            copy: new Set<string>(),
            position: SEQUENCE_START,
            seen: new Set<string>(),
          }));
          for (const [index, step] of steps.entries()) {
            await take(world, step);
            for (const reader of copies) {
              const visible = await seenBy(world, reader.viewer);
              for (const each of visible) reader.seen.add(each);
              // Some readers follow each commit, others several at once.
              if (index % 3 !== 0 && reader.viewer.systems !== undefined) continue;
              const { changes, position } = await changesSince(
                world.store,
                reader.position,
                reader.viewer,
                limit,
              );
              for (const { resource, key } of changes) {
                assert.ok(reader.seen.has(`${resource} ${key}`), `${resource} ${key} was never seen`);
              }
              follow(reader.copy, changes);
              reader.position = position;
              assert.deepEqual([...reader.copy].toSorted(), visible);
            }
          }
          for (const { viewer } of copies) {
            const copy = new Set<string>();
            follow(copy, (await changesSince(world.store, SEQUENCE_START, viewer, limit)).changes);
            assert.deepEqual([...copy].toSorted(), await seenBy(world, viewer), 'from the beginning');
          }
        },
      ),
      { numRuns: contractRuns(engine, 20), seed: 14, endOnFailure: true },
    );
  });

  test('an entry is created, changed or deleted; parents are created before their children and deleted after them', async (t) => {
    const { store, write, clock } = await makeWorld(engine, t);
    clock.set('2026-06-01T12:00:00Z');
    const since = async (position: FeedPosition, viewer?: Viewer) => {
      const { changes, position: next } = await changesSince(store, position, viewer);
      return { lines: linesOf(changes), next, changes };
    };
    let { position } = await pageOf(store, 'end');
    const step = async (work: Promise<unknown>, viewer?: Viewer): Promise<string[]> => {
      await work;
      const { lines, next } = await since(position, viewer);
      position = next;
      return lines;
    };
    const whole = listing('A', { Media: [photo('M1')], Rooms: [room('R1')] });
    assert.deepEqual(await step(write('Property', whole)), [
      'created Property A',
      'created PropertyRooms R1',
      'created Media M1',
    ]);
    assert.deepEqual(await step(write('Property', whole)), [], 'nothing was changed');
    assert.deepEqual(await step(write('Property', { ...whole, Media: [] })), [
      'deleted Media M1',
      'changed Property A',
    ]);
    const other = photo('M2', { ResourceName: 'Property', ResourceRecordKey: 'A' });
    assert.deepEqual(await step(write('Media', other)), ['changed Property A', 'created Media M2']);
    assert.deepEqual(await step(store.remove('Property', ['A'])), [
      'deleted Media M2',
      'deleted PropertyRooms R1',
      'deleted Property A',
    ]);
    assert.deepEqual(await step(write('Property', listing('A'))), ['created Property A']);
  });

  test('the entries of a commit are in the order of their keys, whatever was written first', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const { position } = await pageOf(store, 'end');
    const parts = { Media: ['M3', 'M1', 'M2'].map((key) => photo(key)), Rooms: [room('R2'), room('R1')] };
    await write('Property', listing('B', parts), listing('A'));
    await store.remove('Property', ['B', 'A']);
    assert.deepEqual(linesOf((await changesSince(store, position)).changes), [
      ...['Property A', 'Property B', 'PropertyRooms R1', 'PropertyRooms R2'].map((key) => `created ${key}`),
      ...['Media M1', 'Media M2', 'Media M3'].map((key) => `created ${key}`),
      ...['Media M1', 'Media M2', 'Media M3', 'PropertyRooms R1', 'PropertyRooms R2'].map(
        (key) => `deleted ${key}`,
      ),
      ...['Property A', 'Property B'].map((key) => `deleted ${key}`),
    ]);
  });

  test('a record that leaves the view of a role is deleted for it, and changed when it returns', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const { position } = await pageOf(store, 'end');
    const on = (InternetEntireListingDisplayYN: boolean) =>
      write('Property', listing('A', { InternetEntireListingDisplayYN, Media: [photo('M')] }));
    await on(true);
    await on(false);
    await write(
      'Property',
      listing('A', { InternetEntireListingDisplayYN: false, ListPrice: 7, Media: [photo('M')] }),
    );
    await on(true);
    assert.deepEqual(linesOf((await changesSince(store, position, IDX)).changes), [
      'created Property A',
      'created Media M',
      'deleted Media M',
      'deleted Property A',
      'changed Property A',
      'changed Media M',
    ]);
    assert.deepEqual(
      linesOf((await changesSince(store, position, PRIVATE)).changes).filter((line) =>
        line.includes('Property'),
      ),
      ['created Property A', ...Array.from({ length: 3 }, () => 'changed Property A')],
    );
  });

  test('a record that gets an originating system, or loses it, has one entry for each reader', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const inSystem = (OriginatingSystemID: string | null, StandardStatus = 'Active') =>
      write('Property', listing('A', { OriginatingSystemID, StandardStatus, Media: [photo('M')] }));
    await inSystem(null);
    const ofX = { systems: ['X'] };
    const readers = [
      undefined,
      PRIVATE,
      IDX,
      { ...PRIVATE, ...ofX },
      { ...IDX, ...ofX },
      { ...IDX, systems: ['Y'] },
    ];
    let { position } = await pageOf(store, 'end');
    const received = async () => {
      const lines = await Promise.all(
        readers.map(async (viewer) =>
          linesOf((await changesSince(store, position, viewer)).changes)
            .filter((line) => line.includes('Property'))
            .map((line) => line.replace(' Property A', '')),
        ),
      );
      position = (await pageOf(store, 'end')).position;
      return lines;
    };
    await inSystem('X');
    assert.deepEqual(await received(), [['changed'], ['changed'], ['changed'], ['changed'], ['changed'], []]);
    await inSystem(null);
    assert.deepEqual(await received(), [['changed'], ['changed'], ['changed'], ['deleted'], ['deleted'], []]);
    await inSystem('X', 'Withdrawn');
    // The operator sees the entry of the role that lost it, and that of the role that kept it.
    const both = ['changed', 'changed'];
    assert.deepEqual(await received(), [both, ['changed'], ['deleted'], ['changed'], [], []]);
    await inSystem(null);
    assert.deepEqual(await received(), [['changed'], ['changed'], ['changed'], ['deleted'], [], []]);
    await inSystem('X');
    assert.deepEqual(await received(), [['changed'], ['changed'], ['changed'], ['changed'], ['changed'], []]);
    await inSystem(null, 'Withdrawn');
    assert.deepEqual(await received(), [both, ['changed'], ['deleted'], ['deleted'], ['deleted'], []]);
  });

  test('a new day and changed rules are reported to the roles that they concern', async (t) => {
    const clock = testClock('2026-05-31T23:59:00Z');
    const { store, write, again } = await makeWorld(engine, t, { clock });
    const seeing = (rule: string) =>
      store.configure((settings) => ({
        ...settings,
        access: {
          ...BUILT_IN_ACCESS,
          roles: [
            ...BUILT_IN_ACCESS.roles,
            { name: 'partner', classes: ['idx'], resources: { Property: rule } },
          ],
        },
      }));
    await seeing('ListingContractDate ge {today}');
    await write('Property', listing('A', { ListingContractDate: '2026-05-31' }));
    const partner = { role: 'partner' };
    let { position } = await pageOf(store, 'end');
    const next = async (viewer: Viewer): Promise<string[]> =>
      linesOf((await changesSince(store, position, viewer)).changes);
    clock.set('2026-06-01T00:00:00Z');
    await again();
    assert.deepEqual(await next(partner), ['deleted Property A']);
    position = (await pageOf(store, 'end')).position;
    await seeing('ListingContractDate ge {today - 1 days}');
    assert.deepEqual(await next(partner), ['changed Property A']);
  });

  const wide = { name: 'wide', classes: [], resources: { Property: '' } };
  const narrow = { name: 'narrow', classes: [], resources: { Property: 'ListPrice gt 100' } };
  const rolesOf = (store: Store, ...roles: readonly RoleDefinition[]) =>
    store.configure((settings) => ({
      ...settings,
      access: { ...BUILT_IN_ACCESS, roles: [...BUILT_IN_ACCESS.roles, ...roles] },
    }));

  test('parts leave the view of a role before their listing, and enter that of another after it', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const only = (status: string): RoleDefinition => ({
      name: status,
      classes: ['idx'],
      resources: Object.fromEntries(
        RESOURCES.map((name) => [name, name === 'Property' ? `StandardStatus eq '${status}'` : '']),
      ),
    });
    await rolesOf(store, only('Active'), only('Pending'));
    const parts = {
      Media: [photo('M')],
      OpenHouses: [openHouse('O', { Media: [photo('OM')] })],
      Rooms: [room('R')],
    };
    const are = (StandardStatus: string, ...keys: readonly string[]) =>
      write(
        'Property',
        ...keys.map((key) => listing(key, { StandardStatus, ...(key === 'A' ? parts : {}) })),
      );
    await are('Active', 'A', 'B');
    const { position } = await pageOf(store, 'end');
    await are('Pending', 'A', 'B');
    const seen = async (viewer: Viewer) => linesOf((await changesSince(store, position, viewer)).changes);
    const downwards = ['Property A', 'Property B', 'OpenHouse O', 'PropertyRooms R', 'Media M', 'Media OM'];
    const upwards = ['Media M', 'Media OM', 'PropertyRooms R', 'OpenHouse O', 'Property A', 'Property B'];
    assert.deepEqual(
      await seen({ role: 'Active' }),
      upwards.map((name) => `deleted ${name}`),
    );
    assert.deepEqual(
      await seen({ role: 'Pending' }),
      downwards.map((name) => `changed ${name}`),
    );
    assert.deepEqual(
      await seen(PRIVATE),
      downwards.map((name) => `changed ${name}`),
      'each once',
    );
    assert.deepEqual(await faultsIn(store), []);
  });

  test('a role that replaces another gets no entry for records it never saw; one that returns gets what it missed', async (t) => {
    const { store, write, keys } = await makeWorld(engine, t);
    const since = async (position: FeedPosition, role: string) =>
      linesOf((await changesSince(store, position, { role })).changes);
    await rolesOf(store, wide);
    const { position: begun } = await pageOf(store, 'end');
    await write('Property', listing('A', { ListPrice: 5 }), listing('B', { ListPrice: 500 }));
    const { position: written } = await pageOf(store, 'end');
    await rolesOf(store, narrow);
    for (const position of [SEQUENCE_START, begun, written]) {
      assert.deepEqual(await since(position, 'narrow'), ['changed Property B']);
    }
    await store.remove('Property', ['A']);
    const { position: removed } = await pageOf(store, 'end');
    await rolesOf(store, narrow, wide);
    assert.deepEqual(await since(removed, 'narrow'), ['changed Property B'], 'others see it again');
    const { position: both } = await pageOf(store, 'end');
    await rolesOf(store, wide, narrow);
    assert.deepEqual((await changesSince(store, both)).changes, [], 'the order of roles does not matter');
    assert.deepEqual(await since(begun, 'narrow'), ['changed Property B', 'changed Property B']);
    assert.deepEqual(await since(written, 'wide'), [
      'deleted Property A',
      'deleted Property B',
      'changed Property B',
    ]);
    assert.deepEqual(await keys('Property', '', { viewer: { role: 'narrow' } }), ['B']);
  });

  test('a role that gets the bit of a former one gets no entry for records it never saw', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const count = MOST_BITS - BUILT_IN_ACCESS.roles.length;
    await rolesOf(
      store,
      ...Array.from({ length: count }, (_, index) => ({ ...wide, name: `wide ${index}` })),
    );
    await write('Property', listing('A', { ListPrice: 5 }), listing('B', { ListPrice: 500 }));
    const { position } = await pageOf(store, 'end');
    await write('Property', listing('A', { ListPrice: 6 }), listing('B', { ListPrice: 600 }));
    await rolesOf(store, { ...wide, name: 'wide 0' }, narrow);
    const { changes } = await changesSince(store, SEQUENCE_START, { role: 'narrow' });
    assert.deepEqual(linesOf(changes), ['changed Property B']);
    const scope = viewOf(await store.model(), { role: 'narrow' }).scope;
    assert.equal((await store.feed({ since: position, scope, limit: 10 })).kind, 'gone');
    const { changes: others } = await changesSince(store, SEQUENCE_START, { role: 'wide 0' });
    assert.deepEqual(linesOf(others).slice(0, 2), ['created Property A', 'created Property B']);
  });

  test('a role that gets the bit of a former one gets an entry for every record that both see', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const count = MOST_BITS - BUILT_IN_ACCESS.roles.length;
    const roles = Array.from({ length: count }, (_, index) => ({ ...wide, name: `wide ${index}` }));
    await rolesOf(store, ...roles);
    await write('Property', listing('A', { ListPrice: 5 }), listing('B', { ListPrice: 500 }));
    await rolesOf(store, ...roles.slice(1), { ...wide, name: 'late' });
    const { changes } = await changesSince(store, SEQUENCE_START, { role: 'late' });
    assert.deepEqual(linesOf(changes), ['changed Property A', 'changed Property B']);
    assert.deepEqual(await faultsIn(store), []);
  });

  test('a position of another sequence, or from before a repair, is rejected with the position at which to continue', async (t) => {
    const { store, write, copy, damage } = await makeWorld(engine, t);
    await write('Property', listing('A'));
    const { position: before } = await pageOf(store, 'end');
    const file = temporaryFile();
    await store.backup(file);
    await write('Property', listing('B'));
    const { position: abandoned } = await pageOf(store, 'end');
    const old = await copy(file);
    const gone = async (each: Store, since: FeedPosition) => {
      const page = await each.feed({ since, limit: 10 });
      assert.equal(page.kind, 'gone');
      assert.deepEqual(page.position, (await pageOf(each, 'end')).position);
    };
    assert.deepEqual(linesOf((await changesSince(old, before)).changes), []);
    // A number that no entry has had yet: a reader that waited there would miss every entry up to it.
    await gone(store, { sequence: abandoned.sequence + 1 });
    await gone(old, { sequence: abandoned.sequence });
    // The copy continues on its own with the same numbers.
    await operations(old, testClock()).write('Property', listing('C'), listing('D'));
    await gone(old, abandoned);
    assert.deepEqual(linesOf((await changesSince(old, before)).changes), [
      'created Property C',
      'created Property D',
    ]);
    await store.beginEpoch({});
    await gone(store, before);
    await gone(store, abandoned);
    const { position } = await pageOf(store, 'end');
    assert.ok(position.sequence > 1_000_000_000, 'numbers of the abandoned timeline do not recur');
    await store.mend(undefined);
    await gone(store, position);
    assert.deepEqual(linesOf((await changesSince(store, SEQUENCE_START)).changes), [
      'created Property A',
      'created Property B',
    ]);
    await damage('DELETE FROM plat_changes');
    assert.deepEqual(await changesSince(store, SEQUENCE_START), { changes: [], position: SEQUENCE_START });
  });

  test('old entries are compacted to the last one of each record, and positions before that are rejected', async (t) => {
    const clock = testClock('2026-06-01T12:00:00Z');
    const { store, write, again, keys } = await makeWorld(engine, t, {
      clock,
      settings: { changesKept: { days: 10 } },
    });
    const on = (key: string, InternetEntireListingDisplayYN: boolean) =>
      write('Property', listing(key, { InternetEntireListingDisplayYN }));
    await on('A', true);
    const { position: first } = await pageOf(store, SEQUENCE_START, IDX, 1);
    await on('B', true);
    await on('A', false);
    await on('C', true);
    await store.remove('Property', ['C']);
    clock.set('2026-06-08T12:00:00Z');
    await on('B', false);
    const { position: kept } = await pageOf(store, 'end');
    await on('B', true);
    clock.set('2026-06-15T12:00:00Z');
    const next = await again();
    for (const store of [await again(), next]) {
      assert.equal((await store.feed({ since: first, limit: 10 })).kind, 'gone');
      assert.deepEqual(linesOf((await changesSince(store, SEQUENCE_START, IDX)).changes), [
        'created Property B',
        'deleted Property A',
        'deleted Property C',
        'deleted Property B',
        'changed Property B',
      ]);
      assert.deepEqual(linesOf((await changesSince(store, SEQUENCE_START, PRIVATE)).changes), [
        'created Property B',
        'changed Property A',
        'deleted Property C',
        'changed Property B',
        'changed Property B',
      ]);
      assert.deepEqual(linesOf((await changesSince(store, kept, IDX)).changes), ['changed Property B']);
    }
    assert.deepEqual(await keys('Property', '', { viewer: IDX }), ['B']);
  });

  test('store.changes() yields changes with their records, and can be continued where it ended', async (t) => {
    const { store, again, clock, write } = await makeWorld(engine, t);
    await write('Property', listing('A', { ListPrice: 5 }), listing('B'));
    const taken: Change[] = [];
    for await (const change of store.changes({ records: true })) taken.push(change);
    assert.deepEqual(linesOf(taken), ['created Property A', 'created Property B']);
    assert.equal(taken[0]?.record?.ListPrice, 5);
    assert.equal(taken[0]?.position, '0', 'within a commit the position is that of its beginning');
    const since = taken.at(-1)?.position;
    for await (const change of store.changes({ since })) assert.fail(`${change.key} was taken`);
    const stop = new AbortController();
    const following = store.changes({ since, follow: true, signal: stop.signal })[Symbol.asyncIterator]();
    const next = following.next();
    await operations(await again(), clock).write('Property', listing('C'));
    const { value } = await next;
    assert.deepEqual(linesOf([value]), ['created Property C']);
    const end = following.next();
    stop.abort();
    assert.equal((await end).done, true);
    await assert.rejects(
      async () => {
        for await (const change of store.changes({ since: 'x' })) assert.fail(change.key);
      },
      { code: 'usage' },
    );
    await store.beginEpoch({});
    await assert.rejects(
      async () => {
        for await (const change of store.changes({ since })) assert.fail(change.key);
      },
      { code: 'positionGone' },
    );
  });

  test('leaving the loop of store.changes() lets the store close, and closing the store ends the loop', async (t) => {
    const { write, again } = await makeWorld(engine, t);
    await write('Property', listing('A'), listing('B'));
    const one = await again();
    for await (const { key } of one.changes({ follow: true })) {
      assert.equal(key, 'A');
      break;
    }
    await one.close();
    const other = await again();
    const following = Array.fromAsync(other.changes({ follow: true }));
    const waiting = other.changes({ since: 'end', follow: true })[Symbol.asyncIterator]();
    const next = waiting.next();
    await other.close();
    // It may have been closed before the first of them was read.
    assert.ok((await following).length <= 2);
    assert.equal((await next).done, true);
    for (const follow of [true, false]) {
      await assert.rejects(Array.fromAsync(other.changes({ follow })), { code: 'storeUnavailable' });
    }
  });

  test('a lower limit of kept entries applies at once', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    await write('Property', listing('A'), listing('B'));
    const { position } = await pageOf(store, 'end');
    await write('Property', listing('A', { ListPrice: 2 }));
    await write('Property', listing('A', { ListPrice: 3 }));
    await store.configure((settings) => ({ ...settings, changesKept: { entries: 1 } }));
    assert.equal((await store.feed({ since: position, limit: 10 })).kind, 'gone');
    assert.deepEqual(linesOf((await changesSince(store, SEQUENCE_START)).changes), [
      'created Property B',
      'changed Property A',
    ]);
    const { changes } = await store.status();
    assert.equal(changes.since, changes.last - 1);
    await write('Property', listing('B', { ListPrice: 2 }));
    const next = await pageOf(store, SEQUENCE_START, undefined, 2);
    assert.deepEqual(linesOf(next.changes), ['created Property B', 'changed Property A']);
  });
}
