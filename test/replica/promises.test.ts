/** What a replicator guarantees, as far as the traps, incidents and bad sources do not show it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { retryQuarantined } from '../../src/replica/quarantine.ts';
import { staleness } from '../../src/replica/status.ts';
import { isCopyEqual } from '../../src/replica/verify/results.ts';
import type { Store } from '../../src/store/store.ts';
import { listing, photo, room } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import { change, keyOf, keysUpTo, listings, people, take, withPhotos } from './support/feed.ts';
import { json, type Reply } from './support/loopback.ts';
import { odataServer } from './support/odata-server.ts';
import { platFeed, withFaults } from './support/plat-source.ts';
import { makeReplica, SOURCE } from './support/replica.ts';

const HOUR = 3600 * SECOND;
const KINDS = ['reso', 'native'] as const;
const resources = ['Property'];

describe('delivery', () => {
  for (const kind of KINDS) {
    test(`${kind}: a record that did not change is not written again, however often it comes`, async (t) => {
      const feed = await platFeed(t);
      await feed.write(
        'Property',
        ...keysUpTo(4).map((key) => listing(key, { Media: [photo(`p${key}`)], Rooms: [room(`r${key}`)] })),
      );
      const replica = await feed.replica(t, kind, { resources });
      await replica.replicate();
      const stamps = async () =>
        (await replica.rows('Property')).map((each) => each.ReplicaModificationTimestamp);
      const before = await stamps();
      // The overlap of the window reads all of them once more.
      feed.clock.advance(5 * SECOND);
      await feed.write('Property', listing(keyOf(3), { ListPrice: 5 }));
      feed.clock.advance(60 * SECOND);
      await replica.replicate();
      const after = await stamps();
      assert.deepEqual(
        after.map((stamp, at) => stamp === before[at]),
        [true, true, false, true],
      );
    });

    test(`${kind}: pages and their positions are committed together: after a kill no row is missing, and the next run requests the next page`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(9).map((key) => listing(key)));
      // Within the transaction of a page, or after it.
      for (const event of ['written', 'page'] as const) {
        for (let moment = 1; moment <= 3; moment++) {
          const replica = await feed.replica(t, kind, { resources });
          const pages = (): string[] =>
            replica.requests.filter((url) => /skiptoken=\d/.test(url) && !/select|filter/.test(url));
          let left = moment;
          const killed = replica.replicate({
            step: 'initial',
            pageSize: 2,
            onEvent: ({ kind: reported }) => {
              if (reported === event && --left === 0) throw new Error('killed');
            },
          });
          await assert.rejects(killed, { message: 'killed' });
          const stored = await replica.keys('Property');
          assert.deepEqual(stored, keysUpTo(stored.length));
          const before = pages().length;
          await replica.replicate({ step: 'initial', pageSize: 2 });
          assert.deepEqual(await replica.keys('Property'), keysUpTo(9));
          const next = stored.length === 9 ? undefined : `skiptoken=${keyOf(stored.length)}`;
          assert.equal(/skiptoken=.*$/.exec(pages()[before] ?? '')?.[0], next, `${event} ${moment}`);
        }
      }
    });
  }
});

describe('cursor', () => {
  test('each resource has its own cursor, which does not depend on timestamps in the data', async (t) => {
    const clock = testClock();
    const far = { ModificationTimestamp: '2040-01-01T00:00:00Z' };
    const server = await odataServer(t, clock, { Property: listings(2, clock, () => far), ...people });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    await replica.replicate();
    clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(
      (await replica.status()).collections.map(({ collection, cursor }) => [collection, cursor]),
      ['Property', 'Member', 'Office'].map((name) => [name, '2026-06-01T12:59:00Z']),
    );
    const state = Object.keys(await replica.store.checkpoints.state(SOURCE));
    for (const name of ['Property', 'Member', 'Office']) assert.ok(state.includes(`load ${name}`), name);
  });

  test('the clock of the server bounds the windows: a local clock that is wrong by a year changes nothing', async (t) => {
    const clock = testClock();
    const ours = testClock('2027-06-01T12:00:00Z');
    const server = await odataServer(t, clock, { Property: listings(2, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock: ours, resources });
    await replica.replicate();
    clock.advance(HOUR);
    ours.advance(HOUR);
    await replica.replicate();
    assert.equal((await replica.status()).collections[0]?.cursor, '2026-06-01T12:59:00Z');
  });
});

describe('children', () => {
  test('for each listing only moved sub-data is requested: media by their timestamps, collections without a timestamp always', async (t) => {
    const clock = testClock();
    const stamps = () => ({
      PhotosChangeTimestamp: '2026-05-01T00:00:00Z',
      Media: [],
      Room: [],
      Unit: [],
      OpenHouse: [],
    });
    const server = await odataServer(t, clock, { Property: listings(3, clock, stamps) }, { paths: true });
    const list = server.records.get('Property') ?? [];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    clock.advance(HOUR);
    change(list, keyOf(1), { ListPrice: 1 }, clock);
    change(list, keyOf(2), { ListPrice: 2, VideosChangeTimestamp: clock.text() }, clock);
    clock.advance(600 * SECOND);
    await replica.replicate();
    const windows = server.seen.flatMap(({ query }, at) => (query.has('$filter') ? [at] : []));
    const asked = server.seen
      .slice(windows.at(-1))
      .flatMap(({ path }) => /\('(\d+)'\)\/(\w+)$/.exec(path)?.slice(1).join(' ') ?? []);
    assert.deepEqual(asked.toSorted(), [
      '1001 OpenHouse',
      '1001 Room',
      '1001 Unit',
      '1002 Media',
      '1002 OpenHouse',
      '1002 Room',
      '1002 Unit',
    ]);
  });

  test('sub-data that the source cannot return is quarantined without holding anything up, and requested again by a retry', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(4, clock, withPhotos) }, { paths: true });
    const fails = ({ path }: { path: string }) =>
      path === "/odata/Property('1002')/Media" ? { status: 500, body: 'broken' } : undefined;
    server.intercept = fails;
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    assert.deepEqual(await replica.keys('Media'), ['1001-0', '1004-0']);
    assert.deepEqual(await replica.quarantine(), [
      ['Property', `${keyOf(2)}/Media`, 'The source cannot return its sub-resources: 500: broken'],
    ]);
    // An update of the listing that moves no photo timestamp leaves the entry in the quarantine.
    clock.advance(HOUR);
    change(server.records.get('Property') ?? [], keyOf(2), { ListPrice: 7 }, clock);
    clock.advance(600 * SECOND);
    await replica.replicate();
    assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 7);
    assert.equal((await replica.quarantine()).length, 1);
    server.intercept = () => undefined;
    assert.deepEqual(await retryQuarantined(replica.store, { source: SOURCE }), {
      stored: 0,
      wanted: 1,
      gone: 0,
      still: [],
    });
    clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(await replica.keys('Media'), ['1001-0', '1002-0', '1002-1', '1004-0']);
    assert.deepEqual(await replica.quarantine(), []);
  });
});

describe('sub-data that could not be returned', () => {
  for (const gone of ['a purge', 'a listing that comes with its sub-data']) {
    test(`${gone} removes it from the quarantine`, async (t) => {
      const clock = testClock();
      const server = await odataServer(
        t,
        clock,
        { Property: listings(9, clock, withPhotos) },
        { paths: true },
      );
      const list = server.records.get('Property') ?? [];
      const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
      server.intercept = ({ path }) =>
        path === "/odata/Property('1002')/Media" ? { status: 500, body: 'broken' } : undefined;
      await replica.replicate();
      assert.equal((await replica.quarantine()).length, 1);
      clock.advance(DAY);
      if (gone === 'a purge') take(list, keyOf(2));
      else {
        server.traits.expands = ['Media'];
        change(list, keyOf(2), { ListPrice: 7 }, clock);
        clock.advance(600 * SECOND);
      }
      await replica.replicate();
      assert.deepEqual(await replica.quarantine(), []);
    });
  }
});

const declareOwn = (store: Store) =>
  store.configure((settings) => ({
    ...settings,
    declarations: {
      customFields: [{ resource: 'Property', name: 'Own', type: 'string', group: 'A', label: 'Own' }],
    },
  }));

describe('quarantine', () => {
  test('a listing that a retry stores gets its sub-data with the next run, if the source sends that separately', async (t) => {
    const clock = testClock();
    const photos = (number: number) => ({ Own: 'x', Media: [photo(`p${number}`)] });
    const server = await odataServer(t, clock, { Property: listings(2, clock, photos) }, { paths: true });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate({ drift: 'freeze' });
    await declareOwn(replica.store);
    assert.deepEqual(await replica.retry(), { stored: 2, wanted: 0, gone: 0, still: [] });
    assert.deepEqual(await replica.keys('Media'), []);
    clock.advance(HOUR);
    await replica.replicate({ drift: 'discard' });
    assert.deepEqual(await replica.keys('Media'), ['p1', 'p2']);
  });

  test('a record that the source cannot return is quarantined under its key, and requested at the first run after a retry', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(3, clock) });
    const list = server.records.get('Property') ?? [];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    // Two listings that become visible now, with old timestamps: the sweep finds them, and they are requested by their keys.
    const long = { ModificationTimestamp: '2020-01-01T00:00:00Z' };
    list.push(listing(keyOf(8), long), listing(keyOf(9), long));
    server.intercept = ({ path }) =>
      path === `/odata/Property('${keyOf(9)}')` ? { status: 500, body: 'broken' } : undefined;
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), keyOf(8)]);
    assert.deepEqual(await replica.quarantine(), [
      ['Property', keyOf(9), 'The source cannot return the record: 500: broken'],
    ]);
    server.intercept = () => undefined;
    assert.deepEqual(await retryQuarantined(replica.store), { stored: 0, wanted: 1, gone: 0, still: [] });
    clock.advance(HOUR);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), keyOf(8), keyOf(9)]);
    assert.deepEqual(await replica.quarantine(), []);
  });

  test('a record that the source could not return is requested again after each purge, without a retry', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(3, clock) });
    const list = server.records.get('Property') ?? [];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    list.push(listing(keyOf(9), { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
    const broken = `/odata/Property('${keyOf(9)}')`;
    server.intercept = ({ path }) => (path === broken ? { status: 500, body: 'broken' } : undefined);
    const asked: number[] = [];
    for (let day = 1; day <= 2; day++) {
      clock.advance(DAY);
      const before = server.seen.length;
      assert.equal(await replica.replicate(), 'done');
      asked.push(server.seen.slice(before).filter(({ path }) => path === broken).length);
      assert.deepEqual(await replica.quarantine(), [
        ['Property', keyOf(9), 'The source cannot return the record: 500: broken'],
      ]);
    }
    assert.equal(asked[0], 8, 'all attempts, the first time');
    assert.equal(asked[1], 2, 'fewer attempts after an earlier failure');
    server.intercept = () => undefined;
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.quarantine(), []);
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), keyOf(9)]);
  });

  test('a retry stores what can be stored now, and reports what still cannot', async (t) => {
    const clock = testClock();
    const fields = (number: number) => (number === 1 ? { ListPrice: 'x' } : { Own: `${number}` });
    const server = await odataServer(t, clock, { Property: listings(3, clock, fields) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate({ drift: 'freeze' });
    assert.deepEqual(await replica.keys('Property'), []);
    await declareOwn(replica.store);
    assert.deepEqual(await replica.retry(), {
      stored: 2,
      wanted: 0,
      gone: 0,
      still: [
        {
          source: SOURCE,
          resource: 'Property',
          key: keyOf(1),
          reason: 'ListPrice is "x", but takes a number',
        },
      ],
    });
    assert.deepEqual(
      (await replica.rows('Property')).map(({ ListingKey, Own }) => [ListingKey, Own]),
      [
        [keyOf(2), '2'],
        [keyOf(3), '3'],
      ],
    );
    const [entry] = await replica.store.checkpoints.quarantined(SOURCE);
    assert.equal(entry?.attempts, 3, 'one each for the download, the sweep and the retry');
  });
});

describe('schema drift', () => {
  test('a record that freeze quarantined stays there at a retry, and is stored once another policy accepts its field', async (t) => {
    const clock = testClock();
    const fields = (number: number) => (number === 1 ? { Media: [{ ...photo('p1'), Own: 'x' }] } : {});
    const server = await odataServer(
      t,
      clock,
      { Property: listings(2, clock, fields) },
      { expands: ['Media'] },
    );
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate({ drift: 'freeze' });
    const entry = ['Property', keyOf(1), 'The dictionary has no Media.Own'] as const;
    assert.deepEqual(await replica.quarantine(), [entry]);
    const [resource, key, reason] = entry;
    const still = [{ source: SOURCE, resource, key, reason }];
    // A retry makes the record pending as well, under the policy of the next run.
    for (const drift of ['freeze', 'evolve'] as const) {
      assert.deepEqual(await replica.retry(), { stored: 0, wanted: 0, gone: 0, still });
      assert.deepEqual([await replica.keys('Property'), await replica.quarantine()], [[keyOf(2)], [entry]]);
      clock.advance(HOUR);
      await replica.replicate({ step: 'update', drift });
    }
    assert.deepEqual(await replica.quarantine(), []);
    const verified = await replica.verify();
    assert.ok(isCopyEqual(verified), JSON.stringify(verified));
  });

  for (const kind of KINDS) {
    test(`${kind}: a role that sees more fields causes a full download, which stores them`, async (t) => {
      const feed = await platFeed(t, { role: 'idx' });
      await feed.write(
        'Property',
        ...keysUpTo(3).map((key) => listing(key, { PrivateRemarks: `Remark ${key}`, ListPrice: 1 })),
      );
      feed.clock.advance(HOUR);
      const replica = await feed.replica(t, kind, { resources });
      await replica.replicate();
      const remarks = async () =>
        (await replica.rows('Property')).map(({ PrivateRemarks }) => PrivateRemarks ?? null);
      assert.deepEqual(await remarks(), [null, null, null]);
      feed.clock.advance(HOUR);
      const token = await feed.key('replication', { role: 'private' });
      await replica.replicate({ token });
      assert.equal(replica.reported('refresh').length, 1);
      assert.deepEqual(
        await remarks(),
        keysUpTo(3).map((key) => `Remark ${key}`),
      );
      // And back: fields that the key no longer sees are removed by the next download.
      feed.clock.advance(HOUR);
      await replica.replicate();
      assert.equal(replica.reported('refresh').length, 2);
      assert.deepEqual(await remarks(), [null, null, null]);
    });
  }
});

describe('rights', () => {
  for (const kind of KINDS) {
    test(`${kind}: a change that was made while its listing was hidden is fetched, even after the rights were restored`, async (t) => {
      const feed = await platFeed(t, { role: 'idx' });
      const prices = (...list: readonly number[]) =>
        list.map((price, index) => listing(keyOf(index + 1), { ListPrice: price }));
      await feed.write('Property', ...prices(1, 2));
      feed.clock.advance(HOUR);
      const replica = await feed.replica(t, kind, { resources });
      await replica.replicate({ purgeEvery: DAY });
      const showListings = (filter: string) =>
        feed.store.configure(({ access, ...settings }) => {
          const roles = access.roles.map((role) =>
            role.name === 'idx' && role.resources !== 'all'
              ? { ...role, resources: { ...role.resources, Property: filter } }
              : role,
          );
          return { ...settings, access: { ...access, roles } };
        });
      const before = await feed.store.model();
      await showListings(`ListingKey ne '${keyOf(2)}'`);
      await feed.write('Property', ...prices(1, 20));
      const { access } = before.settings;
      await feed.store.configure((settings) => ({ ...settings, access }));
      // A change of another listing moves the window beyond the hidden change.
      feed.clock.advance(HOUR);
      await feed.write('Property', ...prices(10));
      feed.clock.advance(HOUR);
      await replica.replicate({ step: 'update' });
      assert.deepEqual(
        (await replica.rows('Property')).map(({ ListPrice }) => ListPrice),
        [10, 20],
      );
      assert.deepEqual(replica.reported('refresh'), [
        { reason: 'the source shows other fields or records than before' },
      ]);
    });
  }
});

describe('lock', () => {
  test('a second run for the same source is rejected while the first has its lease; another source is not', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(3, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    const until = clock.now() + 60_000;
    assert.equal(
      await replica.store.checkpoints.lease(SOURCE, { holder: 'host:1:ab', now: clock.now(), until }),
      true,
    );
    await assert.rejects(replica.replicate(), {
      name: 'PlatError',
      code: 'failed',
      message: 'host:1:ab is replicating feed into this store; its lease ends in 60 s unless it is renewed.',
    });
    assert.equal(server.seen.length, 0, 'no request is sent');
    const others = listings(6, clock).slice(3);
    const { root } = await odataServer(t, clock, { Property: others });
    assert.equal(await replica.replicate({ source: 'other', from: root }), 'done');
    clock.advance(60_000);
    assert.equal(await replica.replicate(), 'done', "a dead one's lease expires");
  });

  test('a process that has lost its lease stores nothing more and reports that', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(9, clock) }, { page: 3 });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    let pages = 0;
    const lost = replica.replicate({
      onEvent: (event) => {
        if (event.kind !== 'page' || ++pages !== 1) return;
        // It was suspended for longer than its lease, and another process took over.
        clock.advance(61_000);
        void replica.store.checkpoints.lease(SOURCE, {
          holder: 'host:2:cd',
          now: clock.now(),
          until: clock.now() + 60_000,
        });
      },
    });
    await assert.rejects(lost, { name: 'LeaseLost' });
    assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
    assert.equal((await replica.store.checkpoints.leaseHolder(SOURCE))?.holder, 'host:2:cd');
  });

  test('a run that ends releases its lease, also when it fails', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(1, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    server.intercept = () => json({ error: { message: 'no' } }, { status: 403 });
    await assert.rejects(replica.replicate(), { kind: 'refused' });
    server.intercept = () => undefined;
    assert.equal(await replica.replicate(), 'done');
  });
});

describe('freshness', () => {
  const now = Date.parse('2026-06-02T12:00:00Z');
  const CASES: readonly [string, Parameters<typeof staleness>[0], string | undefined][] = [
    ['nothing done yet', {}, 'the initial download is not complete'],
    ['all done just now', { update: now, purge: now }, undefined],
    ['an update an hour ago', { update: now - HOUR, purge: now }, undefined],
    [
      'an update over an hour ago',
      { update: now - 1.5 * HOUR, purge: now },
      'the last update was 1.5 hours ago',
    ],
    ['a purge a day ago', { update: now, purge: now - DAY }, undefined],
    ['a purge over a day ago', { update: now, purge: now - 30 * HOUR }, 'the last purge was 30.0 hours ago'],
    ['no purge yet, the download ended a day ago', { update: now, downloaded: now - DAY }, undefined],
    [
      'no purge since the download ended over a day ago',
      { update: now, downloaded: now - 30 * HOUR },
      'no purge was done since the download ended 30.0 hours ago',
    ],
    [
      'a purge, and another download since',
      { update: now, purge: now, downloaded: now - 30 * HOUR },
      undefined,
    ],
  ];
  for (const [name, schedule, expected] of CASES) {
    test(name, () => assert.equal(staleness(schedule, now), expected));
  }

  test('a timestamp in the future, left by a clock that was set back, is ignored: the copy is as old as its cursor', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(1, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    clock.advance(2 * HOUR);
    const levelAt = async (level: number) => {
      const chain = { way: 'events', resources: ['Property'], position: '1', level };
      await replica.store.checkpoints.commit(SOURCE, { state: { chain } });
      const { stale, collections } = await replica.status();
      return [stale, collections.find(({ collection }) => collection === 'Property')?.lag];
    };
    const before = await levelAt(0);
    assert.equal(before[0], 'the last update was 2.0 hours ago');
    assert.deepEqual(await levelAt(clock.now() + DAY), before);
    assert.deepEqual(await levelAt(clock.now() - 1000), [undefined, 1000]);
  });

  test('a watch updates listings every 15 minutes and agents every hour', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(1, clock), ...people });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    const begun: [string, number][] = [];
    const stop = new AbortController();
    const start = clock.now();
    await replica.replicate({
      watch: true,
      signal: stop.signal,
      onEvent: (event) => {
        const minutes = Math.round((clock.now() - start) / 60_000);
        if (minutes > 125) stop.abort();
        if (event.kind !== 'step' || event.state === 'done') return;
        if (event.step === 'update') begun.push([event.resource, minutes]);
      },
    });
    const moments = (name: string): number[] => begun.filter(([each]) => each === name).map(([, at]) => at);
    assert.deepEqual(moments('Property').slice(0, 9), [0, 15, 30, 45, 60, 75, 90, 105, 120]);
    assert.deepEqual(moments('Member').slice(0, 3), [0, 60, 120]);
  });

  test('a watch whose last purge is older than the interval purges at its start, not only after its first update', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(9, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    clock.advance(21 * HOUR);
    await replica.replicate({ purgeEvery: 40 * HOUR });
    take(server.records.get('Property') ?? [], keyOf(3));
    const begun = clock.now();
    const stop = new AbortController();
    await replica.replicate({
      watch: true,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'step' && event.state === 'done') stop.abort();
      },
    });
    assert.deepEqual(
      await replica.keys('Property'),
      keysUpTo(9).filter((key) => key !== keyOf(3)),
    );
    assert.ok(clock.now() - begun < 60_000, 'the next update is a quarter of an hour away');
  });

  test('a copy whose purges are guarded from the first run on is reported as stale a day after the download', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(9, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate({ step: 'initial' });
    take(server.records.get('Property') ?? [], ...keysUpTo(5));
    for (let hours = 0; hours < 25; hours += 5) {
      assert.equal(await replica.replicate(), 'guarded');
      assert.equal((await replica.status()).stale, undefined);
      clock.advance(5 * HOUR);
    }
    await replica.replicate();
    assert.match(
      (await replica.status()).stale ?? '',
      /^no purge was done since the download ended 25\.\d hours ago$/,
    );
  });

  test('a watch whose source is unavailable when it begins keeps trying for hours', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(2, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    const upAt = clock.now() + 5 * HOUR;
    server.intercept = () => (clock.now() < upAt ? { status: 503, body: 'down' } : undefined);
    const stop = new AbortController();
    const result = await replica.replicate({
      watch: true,
      signal: stop.signal,
      onEvent: ({ kind, ...facts }) => {
        if (kind === 'step' && 'step' in facts && facts.step === 'update') stop.abort();
      },
    });
    assert.equal(result, 'stopped');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(2));
    assert.deepEqual(replica.reported('failed')[0]?.reason, '503: down');
  });

  test('a watch continues after a source that is down, a refused key, a redirect and an address that does not exist', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(2, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    const elsewhere = { location: 'https://elsewhere.example/x' };
    const replies: readonly Reply[] = [
      { status: 503, body: 'down' },
      json({ error: { message: 'Who are you?' } }, { status: 401 }),
      json({ error: { message: 'Not you' } }, { status: 403 }),
      { status: 302, headers: elsewhere },
      { status: 404, body: 'gone' },
      { status: 410, body: 'gone for good' },
    ];
    const stop = new AbortController();
    let round = -1;
    let downUntil = 0;
    server.intercept = ({ query }) =>
      query.has('$filter') && clock.now() < downUntil ? replies[round] : undefined;
    const watching = replica.replicate({
      watch: true,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
        downUntil = clock.now() + 2 * HOUR;
        if (++round === replies.length) stop.abort();
      },
    });
    assert.equal(await watching, 'stopped');
    const failures = replica.reported('failed');
    assert.deepEqual(failures[0], { step: 'update', reason: '503: down', wait: 11_250 });
    assert.deepEqual(
      [...new Set(failures.map(({ reason }) => reason))],
      [
        '503: down',
        '401: Who are you?',
        '403: Not you',
        'The source redirects to https://elsewhere.example, which is not the origin of the token',
        '404: gone',
        '410: gone for good',
      ],
    );
    const waits = (reason: RegExp): number[] =>
      failures.filter((each) => reason.test(each.reason)).map(({ wait }) => wait / 1000);
    assert.equal(Math.max(...waits(/^503/)), 0.75 * 5 * 60, 'transient failures are retried more often');
    assert.deepEqual(
      waits(/^401/),
      [11.25, 22.5, 45, 90, 180, 360, 675, 675, 675, 675, 675, 675, 675, 675, 675],
    );
    assert.equal(replica.reported('recovered').length, replies.length);
    assert.deepEqual((await replica.status()).troubles, []);
  });

  test('status reports what fails in a watch until it succeeds', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(2, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    const begun = clock.text();
    server.intercept = () => json({ error: { message: 'Not yet' } }, { status: 403 });
    const stop = new AbortController();
    const troubles: unknown[] = [];
    const watching = replica.replicate({
      watch: true,
      signal: stop.signal,
      onEvent: async (event) => {
        if (event.kind === 'failed' && replica.reported('failed').length === 3) {
          troubles.push(...(await replica.status()).troubles);
          server.intercept = () => undefined;
        }
        if (event.kind === 'step' && event.step === 'update' && event.state === 'done') stop.abort();
      },
    });
    assert.equal(await watching, 'stopped');
    assert.deepEqual(troubles, [
      { step: 'watch', since: begun, attempts: 3, reason: '403: Not yet', lasting: true },
    ]);
    assert.deepEqual((await replica.status()).troubles, []);
  });

  test('invalid options end a watch at once', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(2, clock) });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    for (const wish of [{ from: 'ftp://nowhere' }, { resources: ['Nothing'] }, { source: 'a name' }]) {
      await assert.rejects(replica.replicate({ ...wish, watch: true }), { code: 'usage' });
    }
    assert.deepEqual(replica.reported('failed'), []);
  });
});

describe('requests', () => {
  for (const kind of KINDS) {
    test(`${kind}: connections that are cut now and then lose no record`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(20).map((key) => listing(key, { Media: [photo(`p${key}`)] })));
      const replica = await feed.replica(t, kind, {
        resources,
        between: withFaults((_, count) => (count % 4 === 0 ? 'cut' : count % 7 === 0 ? 'lose' : 'pass')),
      });
      assert.equal(await replica.replicate({ pageSize: 3 }), 'done');
      assert.deepEqual(await replica.keys('Property'), keysUpTo(20));
      assert.deepEqual(
        await replica.keys('Media'),
        keysUpTo(20).map((key) => `p${key}`),
      );
    });
  }
});
