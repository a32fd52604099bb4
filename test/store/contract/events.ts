/** EntityEvent (RESO RCP-27): the sequence of changes as records, with the entries that the feed reports to a reader. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import { listing, member, photo, room } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer, viewOf } from '../../support/views.ts';
import { type Json, makeWorld, operations, type World } from '../../support/world.ts';
import { SYSTEMS } from './random-market.ts';

const VIEWERS: readonly Viewer[] = [
  PRIVATE,
  IDX,
  { role: 'vow' },
  ...SYSTEMS.map((system) => ({ role: 'private', systems: [system] })),
];

/** A market whose sequence numbers have different lengths, the last of them beyond 32 bits. */
async function market(engine: Engine, scope: Scope): Promise<World> {
  const world = await makeWorld(engine, scope);
  const { store, write, damage } = world;
  const next = (number: number) =>
    damage(`UPDATE plat_sequence SET next = ${number} WHERE resource = 'changes'`);
  const [one = '', two = ''] = SYSTEMS;
  await next(997);
  await write(
    'Property',
    listing('A', { OriginatingSystemID: one, Media: [photo('M1')], Rooms: [room('R1')] }),
  );
  await write('Member', member('P1'));
  await next(9_999_999_998);
  await write(
    'Property',
    listing('B', { OriginatingSystemID: two }),
    listing('Hidden', { StandardStatus: 'Incomplete' }),
  );
  await write(
    'Property',
    listing('A', { OriginatingSystemID: one, Media: [], StandardStatus: 'Incomplete' }),
  );
  await store.remove('Property', ['B']);
  return world;
}

interface Event {
  readonly EntityEventSequence: number;
  readonly ResourceName: string;
  readonly ResourceRecordKey: string;
}

async function feedOf({ store }: Pick<World, 'store'>, viewer: Viewer): Promise<Event[]> {
  const { scope } = viewOf(await store.model(), viewer);
  const page = await store.feed({ since: SEQUENCE_START, scope, limit: 100_000 });
  assert.ok(page.kind === 'changes');
  return page.changes.map(({ sequence, resource, key }) => ({
    EntityEventSequence: sequence,
    ResourceName: resource,
    ResourceRecordKey: key,
  }));
}

const byName = (one: Event, other: Event): number =>
  one.ResourceName < other.ResourceName ? -1 : Number(one.ResourceName > other.ResourceName);

export function eventsContract(engine: Engine): void {
  test('events are the entries that the feed reports to the reader, in the order of their numbers', async (t) => {
    const world = await market(engine, t);
    for (const viewer of VIEWERS) {
      const expected = await feedOf(world, viewer);
      assert.ok(expected.length > 5);
      assert.deepEqual(await world.rows('EntityEvent', '', { viewer }), expected);
      assert.equal(await world.count('EntityEvent', '', viewer), expected.length);
    }
    const keys = async (viewer: Viewer) =>
      (await feedOf(world, viewer)).map(({ ResourceRecordKey }) => ResourceRecordKey);
    assert.ok((await keys(PRIVATE)).includes('Hidden') && !(await keys(IDX)).includes('Hidden'));
  });

  test('events are filtered, ordered, limited and counted like any record', async (t) => {
    const world = await market(engine, t);
    const all = await feedOf(world, PRIVATE);
    const numbers = all.map(({ EntityEventSequence }) => EntityEventSequence);
    const [middle = 0, next = 0] = numbers.slice(-6);
    const filters: readonly [string, (event: Event) => boolean][] = [
      [`EntityEventSequence gt ${middle}`, (event) => event.EntityEventSequence > middle],
      [`${middle} lt EntityEventSequence`, (event) => event.EntityEventSequence > middle],
      [`EntityEventSequence gt ${middle}.5`, (event) => event.EntityEventSequence > middle],
      [`EntityEventSequence ge ${middle}`, (event) => event.EntityEventSequence >= middle],
      [`EntityEventSequence ge ${middle}.5`, (event) => event.EntityEventSequence > middle],
      [`EntityEventSequence lt ${middle}.5`, (event) => event.EntityEventSequence <= middle],
      [`EntityEventSequence lt ${middle}`, (event) => event.EntityEventSequence < middle],
      [`EntityEventSequence le ${middle}`, (event) => event.EntityEventSequence <= middle],
      [`EntityEventSequence eq ${middle}`, (event) => event.EntityEventSequence === middle],
      [`EntityEventSequence eq ${middle}.5`, () => false],
      [`EntityEventSequence ne ${middle}`, (event) => event.EntityEventSequence !== middle],
      [
        `EntityEventSequence in (${middle},${next},5000)`,
        ({ EntityEventSequence: n }) => n === middle || n === next,
      ],
      ['EntityEventSequence ge 0', () => true],
      ['EntityEventSequence gt -5.5', () => true],
      ['EntityEventSequence lt -5', () => false],
      ['EntityEventSequence gt 99999999999999999999', () => false],
      ['EntityEventSequence le 1e300', () => true],
      ['EntityEventSequence gt null', () => false],
      [`not (EntityEventSequence le ${middle})`, (event) => event.EntityEventSequence > middle],
      [
        `EntityEventSequence gt ${middle} or ResourceName eq 'Member'`,
        (event) => event.EntityEventSequence > middle || event.ResourceName === 'Member',
      ],
      [
        `EntityEventSequence gt 999 and ResourceName in ('Property','Media')`,
        (event) => event.EntityEventSequence > 999 && /^(Property|Media)$/.test(event.ResourceName),
      ],
      [
        `(EntityEventSequence gt 999 and EntityEventSequence le ${middle}) and ResourceName ne 'Field'`,
        (event) =>
          event.EntityEventSequence > 999 &&
          event.EntityEventSequence <= middle &&
          event.ResourceName !== 'Field',
      ],
      [
        "startswith(ResourceRecordKey,'M') and length(ResourceRecordKey) eq 2",
        ({ ResourceRecordKey: key }) => key.startsWith('M') && key.length === 2,
      ],
      [
        "tolower(ResourceName) eq 'property' and ResourceRecordKey gt 'A'",
        (event) => event.ResourceName === 'Property' && event.ResourceRecordKey > 'A',
      ],
      ['EntityEventSequence mod 2 eq 1', (event) => event.EntityEventSequence % 2 === 1],
      ['EntityEventSequence add 1 gt 1000', (event) => event.EntityEventSequence >= 1000],
      ["endswith(cast(EntityEventSequence,Edm.String),'1')", (event) => event.EntityEventSequence % 10 === 1],
      ['ResourceRecordUrl eq null', () => true],
    ];
    for (const [filter, holds] of filters) {
      const query = `$filter=${encodeURIComponent(filter)}`;
      assert.deepEqual(await world.rows('EntityEvent', query), all.filter(holds), filter);
      assert.equal(await world.count('EntityEvent', query), all.filter(holds).length, filter);
    }
    const orders: readonly [string, readonly Event[]][] = [
      ['EntityEventSequence', all],
      ['EntityEventSequence desc,ResourceName', all.toReversed()],
      ['ResourceName', all.toSorted(byName)],
      ['ResourceName desc,EntityEventSequence desc', all.toSorted(byName).toReversed()],
      ['EntityEventSequence mod 1,ResourceName,EntityEventSequence desc', all.toReversed().toSorted(byName)],
    ];
    for (const [order, expected] of orders) {
      const options = `$orderby=${encodeURIComponent(order)}`;
      assert.deepEqual(await world.rows('EntityEvent', options), expected, order);
      assert.deepEqual(
        await world.rows('EntityEvent', `${options}&$skip=3&$top=4`),
        expected.slice(3, 7),
        order,
      );
      // Each page continues where the last one ended.
      const walked: Json[] = [];
      let position: Parameters<World['page']>[2] = { limit: 7 };
      for (;;) {
        const { records, last, more } = await world.page('EntityEvent', options, position);
        walked.push(...records);
        if (!more || last === undefined) break;
        position = { limit: 7, position: { kind: 'after-row', ...last } };
      }
      assert.deepEqual(walked, expected, order);
    }
    const after = await world.page('EntityEvent', '', {
      position: { kind: 'after-key', key: '999' },
      limit: 1,
    });
    assert.deepEqual(after.last, { key: '1001', values: [] });
    assert.deepEqual(await world.rows('EntityEvent', '$select=ResourceName&$top=1'), [
      { ResourceName: all[0]?.ResourceName },
    ]);
  });

  test('an event is read by its number, unless it does not exist or the reader does not see it', async (t) => {
    const world = await market(engine, t);
    const hidden = (await feedOf(world, PRIVATE)).find(
      ({ ResourceRecordKey }) => ResourceRecordKey === 'Hidden',
    );
    assert.ok(hidden !== undefined);
    const key = String(hidden.EntityEventSequence);
    assert.deepEqual(await world.record('EntityEvent', key), hidden);
    assert.deepEqual(await world.record('EntityEvent', key.padStart(19, '0')), hidden);
    for (const [asked, viewer] of [
      [key, IDX],
      ['5000', PRIVATE],
      ['x', PRIVATE],
    ] as const) {
      assert.equal(await world.record('EntityEvent', asked, '', { viewer }), undefined);
    }
  });

  test('a key that is restricted to some systems gets no event of values that are in use in others', async (t) => {
    const world = await makeWorld(engine, t);
    const [one = '', two = ''] = SYSTEMS;
    const before = (await world.store.changesKnown()).last;
    const stored = (key: string, system: string, City: string) =>
      world.write('Property', listing(key, { OriginatingSystemID: system, City }));
    await stored('A', one, 'Onetown');
    await stored('B', two, 'Twotown');
    await stored('C', two, 'Passing');
    await stored('C', two, 'Twotown');
    const lookups = async (viewer: Viewer, filter = '') =>
      (await world.rows('EntityEvent', `$filter=ResourceName eq 'Lookup'${filter}`, { viewer })).map(
        ({ ResourceRecordKey }) => ResourceRecordKey,
      );
    const since = ` and EntityEventSequence gt ${before} and startswith(ResourceRecordKey,'City.')`;
    const values = ['City.Onetown', 'City.Twotown', 'City.Passing', 'City.Passing'];
    assert.deepEqual(await lookups(PRIVATE, since), values);
    assert.deepEqual(await world.reasons('EntityEvent', { EntityEventSequence: 1 }), [
      'The store fills EntityEvent itself, from its sequence of changes. Its records cannot be imported, copied or deleted.',
    ]);
    for (const system of [one, two]) {
      const viewer = { role: 'private', systems: [system] };
      assert.deepEqual(await lookups(viewer, since), []);
      const listed = await lookups(viewer);
      assert.ok(listed.length > 5 && listed.includes('StandardStatus.Active'), 'listed values');
      assert.deepEqual(
        (await feedOf(world, viewer))
          .filter(({ ResourceName }) => ResourceName === 'Lookup')
          .map(({ ResourceRecordKey }) => ResourceRecordKey),
        listed,
      );
    }
  });

  test('after entries were compacted, a client that follows by number gets each record once more', async (t) => {
    const clock = testClock('2026-06-01T12:00:00Z');
    const { write, again } = await makeWorld(engine, t, { clock, settings: { changesKept: { days: 1 } } });
    for (const ListPrice of [1, 2, 3]) await write('Property', listing('A', { ListPrice }));
    await write('Property', listing('B'));
    clock.set('2026-06-05T12:00:00Z');
    const store = await again();
    const { since, last } = await store.changesKnown();
    assert.ok(since > 0 && since <= last);
    const found = await operations(store, clock).keys('EntityEvent', "$filter=ResourceName eq 'Property'");
    const all = (await feedOf({ store }, PRIVATE)).filter(({ ResourceName }) => ResourceName === 'Property');
    assert.deepEqual(
      found,
      all.map(({ EntityEventSequence }) => String(EntityEventSequence)),
    );
    assert.deepEqual(
      all.map(({ ResourceRecordKey }) => ResourceRecordKey),
      ['A', 'B'],
    );
  });
}
