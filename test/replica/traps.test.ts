/** The traps of the specification, each with at least one test. TRAP 9 and 12 are also tested in `copy/`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReplicaEvent } from '../../src/replica/events.ts';
import { listing, member, office, photo, room } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { pick } from '../support/world.ts';
import { change, keyOf, keysUpTo, listings, people, take } from './support/feed.ts';
import { json, type Seen } from './support/loopback.ts';
import { agent, failure, type NativeServer, nativeServer } from './support/native-server.ts';
import { metadataOf, odataServer } from './support/odata-server.ts';
import { platFeed, withFaults } from './support/plat-source.ts';
import { makeReplica, type TestReplica } from './support/replica.ts';

const HOUR = 3600 * SECOND;
/** Whether a native request is for the sub-data of listings by their keys. */
const isSubData = ({ query }: Pick<Seen, 'query'>): boolean =>
  query.get('_filter')?.startsWith('ListingKey') === true;
const NO_PEOPLE = { Member: [], Office: [] };
const KINDS = ['reso', 'native'] as const;

describe('TRAP 1: exclusive bounds with a shared edge lose a record', () => {
  test('a record with a timestamp exactly on the edge of two windows is copied', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(3, clock) });
    const list = server.records.get('Property') ?? [];
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    clock.advance(HOUR);
    await replica.replicate();
    const edge = new Date(clock.now() - 60_000).toISOString();
    list.push(listing(keyOf(9), { ModificationTimestamp: edge }));
    clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), keyOf(9)]);
    const filters = server.seen.flatMap(({ query }) => query.get('$filter') ?? []);
    assert.deepEqual(filters, [
      `(ModificationTimestamp gt 2026-06-01T11:49:00Z and ModificationTimestamp lt 2026-06-01T12:59:00Z)`,
      `(ModificationTimestamp gt 2026-06-01T12:49:00Z and ModificationTimestamp lt 2026-06-01T13:59:00Z)`,
    ]);
  });

  test('against plat the filter is gt the cursor less one second, and lt the Date less ten', async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', listing('1'));
    const replica = await feed.replica(t, 'reso', { resources: ['Property'] });
    await replica.replicate();
    feed.clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(
      replica.requests.flatMap((url) => /\$filter=(\(Mod[^&]+)/.exec(url)?.[1] ?? []),
      ['(ModificationTimestamp gt 2026-06-01T11:59:49Z and ModificationTimestamp lt 2026-06-01T12:59:50Z)'],
    );
  });

  test('on native the filter is bt cursor,upper, which includes both ends', async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', listing('1'));
    const replica = await feed.replica(t, 'native');
    await replica.replicate();
    feed.clock.advance(HOUR);
    await replica.replicate();
    feed.clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(
      [...new Set(replica.requests.flatMap((url) => /_filter=(Mod[^&]+)/.exec(url)?.[1] ?? []))],
      [
        'ModificationTimestamp bt 2026-06-01T11:59:50Z,2026-06-01T12:59:50Z',
        'ModificationTimestamp bt 2026-06-01T12:59:50Z,2026-06-01T13:59:50Z',
      ],
    );
  });
});

describe('TRAP 2: the same filter inside 10 minutes returns the old index', () => {
  for (const kind of KINDS) {
    test(`${kind}: the filter of a window whose first response was lost is not sent again`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(6).map((key) => listing(key, { ListPrice: 1 })));
      let isCut = false;
      const stop = new AbortController();
      const replica = await feed.replica(t, kind, {
        resources: ['Property'],
        between: withFaults((url) => {
          if (!isCut || !/ModificationTimestamp (gt|bt)/.test(url)) return 'pass';
          stop.abort();
          return 'lose';
        }),
      });
      await replica.replicate();
      feed.clock.advance(HOUR);
      await feed.write('Property', listing(keyOf(2), { ListPrice: 5 }));
      feed.clock.advance(60 * SECOND);
      isCut = true;
      assert.equal(await replica.replicate({ signal: stop.signal }), 'stopped');
      isCut = false;
      assert.equal(await replica.replicate(), 'done');
      const filters = replica.requests
        .filter((url) => !/skiptoken=\d/.test(url))
        .flatMap((url) => /filter=(\(?ModificationTimestamp [^&]+)/.exec(url)?.[1] ?? []);
      assert.equal(filters.length, 2);
      assert.equal(new Set(filters).size, 2, filters.join('\n'));
      assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 5);
    });

    test(`${kind}: a walk that resumes keeps its filter`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(6).map((key) => listing(key, { ListPrice: 1 })));
      const replica = await feed.replica(t, kind, { resources: ['Property'] });
      await replica.replicate();
      feed.clock.advance(HOUR);
      await feed.write('Property', ...keysUpTo(6).map((key) => listing(key, { ListPrice: 5 })));
      feed.clock.advance(60 * SECOND);
      const stop = new AbortController();
      const before = replica.requests.length;
      const stopped = await replica.replicate({
        pageSize: 2,
        signal: stop.signal,
        onEvent: (event) => event.kind === 'page' && event.step === 'update' && stop.abort(),
      });
      assert.equal(stopped, 'stopped');
      feed.clock.advance(60 * SECOND);
      await replica.replicate({ pageSize: 2 });
      const walk = replica.requests.slice(before).filter((url) => /ModificationTimestamp (gt|bt)/.test(url));
      const filters = walk.map((url) => /filter=([^&]+)/.exec(url)?.[1]);
      const [first, next] =
        kind === 'reso'
          ? [
              '(ModificationTimestamp gt 2026-06-01T11:59:49Z and ModificationTimestamp lt 2026-06-01T13:00:50Z)',
              '(ModificationTimestamp gt 2026-06-01T13:00:49Z and ModificationTimestamp lt 2026-06-01T13:01:50Z)',
            ]
          : [
              'ModificationTimestamp bt 2026-06-01T11:59:50Z,2026-06-01T13:00:50Z',
              'ModificationTimestamp bt 2026-06-01T13:00:50Z,2026-06-01T13:01:50Z',
            ];
      // The run reads the window that was begun to its end, and then one of its own.
      const pages = filters.filter((each) => each === first).length;
      assert.ok(pages >= 3, filters.join('\n'));
      assert.deepEqual(filters, [...Array(pages).fill(first), next]);
      assert.deepEqual(
        (await replica.rows('Property')).map(({ ListPrice }) => ListPrice),
        [5, 5, 5, 5, 5, 5],
      );
    });
  }
});

describe('TRAP 3: a cached index over live records: a page may be short, or empty, and still have a next one', () => {
  test('reso: deletions during a walk shorten its pages, and all records after them are copied', async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', ...keysUpTo(9).map((key) => listing(key, { ListPrice: 1 })));
    const replica = await feed.replica(t, 'reso');
    await replica.replicate();
    feed.clock.advance(HOUR);
    await feed.write('Property', ...keysUpTo(9).map((key) => listing(key, { ListPrice: 5 })));
    feed.clock.advance(60 * SECOND);
    let pages = 0;
    await replica.replicate({
      pageSize: 2,
      onEvent: (event) => {
        // Page 2 is being requested; all of page 3 and half of page 4 are deleted.
        if (event.kind === 'page' && event.step === 'update' && ++pages === 1) {
          void feed.store.remove('Property', [keyOf(5), keyOf(6), keyOf(7)]);
        }
      },
    });
    assert.deepEqual(
      (await replica.rows('Property', '$filter=ListPrice eq 5')).map(({ ListingKey }) => ListingKey),
      [...keysUpTo(4), keyOf(8), keyOf(9)],
    );
    const updates = replica.reported('page').filter(({ step }) => step === 'update');
    assert.equal(
      updates.reduce((sum, { rows }) => sum + rows, 0),
      6,
    );
  });

  test('a foreign server that sends short and empty pages in between is read to its end', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(9, clock), ...NO_PEOPLE }, { page: 3 });
    const list = server.records.get('Property') ?? [];
    const pages = [list.slice(0, 3), [], list.slice(3, 4), [], [], list.slice(4, 9)];
    server.intercept = ({ path, query }) => {
      if (path !== '/odata/Property' || query.get('$top') === '1') return undefined;
      const at = Number(query.get('$skiptoken') ?? 0);
      const next = at + 1 < pages.length ? { '@odata.nextLink': `Property?$skiptoken=${at + 1}` } : {};
      return json({ value: pages[at], ...next });
    };
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    await replica.replicate();
    assert.deepEqual(await replica.keys('Property'), keysUpTo(9));
  });
});

describe('TRAP 4: _skip misses as well as repeats; accounts have nothing else', () => {
  const agents = (count: number) => Array.from({ length: count }, (_, at) => agent(`a${at + 1}`));
  const names = (count: number): string[] => agents(count).map(({ Id }) => String(Id));

  test('an account that a deletion moves onto a page already read is not deleted', async (t) => {
    const clock = testClock();
    const server = await nativeServer(t, clock, [], agents(9));
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
    await replica.replicate({ pageSize: 3 });
    assert.deepEqual(await replica.keys('Member'), names(9));
    clock.advance(DAY);
    // After the first page a1 is deleted, and a4 moves onto the page that was already read.
    let isDone = false;
    server.intercept = ({ path, query }) => {
      if (!isDone && path === '/v1/accounts' && query.get('_skip') === '3') {
        isDone = true;
        server.accounts = server.accounts.filter(({ Id }) => Id !== 'a1');
      }
      return undefined;
    };
    assert.equal(await replica.replicate({ pageSize: 3 }), 'done');
    assert.deepEqual(await replica.keys('Member'), names(9).slice(1));
    assert.deepEqual(replica.reported('deleted'), [{ resource: 'Member', keys: ['a1'] }]);
  });

  test('an account added during the walk moves rows onto the next page: rows that repeat are stored once', async (t) => {
    const clock = testClock();
    const server = await nativeServer(t, clock, [], agents(6));
    let added = 0;
    server.intercept = ({ path, query }) => {
      if (path === '/v1/accounts' && query.get('_skip') === '3' && added++ === 0) {
        server.accounts = [agent('a0'), ...server.accounts];
      }
      return undefined;
    };
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
    assert.equal(await replica.replicate({ pageSize: 3 }), 'done');
    assert.deepEqual(await replica.keys('Member'), ['a0', ...names(6)]);
  });

  test('nothing is deleted unless two sweeps agree', async (t) => {
    const clock = testClock();
    const server = await nativeServer(t, clock, [], agents(9));
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
    await replica.replicate({ pageSize: 3 });
    clock.advance(DAY);
    let request = 0;
    server.accounts = server.accounts.slice(1);
    server.intercept = ({ path, query }) => {
      // Each walk finds another account at its end.
      if (path !== '/v1/accounts' || query.get('_skip') !== '0') return undefined;
      server.accounts = [...agents(9).slice(1), agent(`z${request++}`)];
      return undefined;
    };
    assert.equal(await replica.replicate({ pageSize: 3 }), 'unsure');
    assert.deepEqual(replica.reported('unsure'), [
      { resource: 'accounts', reason: 'no two of 6 walks were the same' },
    ]);
    assert.deepEqual(replica.reported('deleted'), []);
    assert.equal((await replica.keys('Member')).includes('a1'), true);
    const [accounts] = (await replica.status()).collections.filter(
      ({ collection }) => collection === 'accounts',
    );
    assert.equal(accounts?.sweep, 'idle');
  });
});

describe('TRAP 5: a skip token must work when its record has been deleted', () => {
  for (const kind of KINDS) {
    test(`${kind}: the record of each token is deleted before the next page is requested, and no other record is lost`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(8).map((key) => listing(key)));
      const removed: string[] = [];
      let isDownload = true;
      const replica = await feed.replica(t, kind, {
        between: (transport) => async (wish) => {
          const [, token = ''] = /skiptoken=(\d+)/.exec(decodeURIComponent(wish.url)) ?? [];
          if (isDownload && token !== '' && !removed.includes(token)) {
            removed.push(token);
            await feed.store.remove('Property', [token]);
          }
          return transport(wish);
        },
      });
      await replica.replicate({ pageSize: 2, step: 'initial' });
      assert.deepEqual(await replica.keys('Property'), keysUpTo(8));
      assert.deepEqual(
        removed,
        kind === 'reso' ? ['1002', '1004', '1006'] : ['1002', '1004', '1006', '1008'],
      );
      isDownload = false;
      feed.clock.advance(DAY);
      await replica.replicate({ force: true });
      assert.deepEqual(
        await replica.keys('Property'),
        keysUpTo(8).filter((key) => !removed.includes(key)),
      );
    });
  }
});

describe('TRAP 5b: a skip token may include its own record', () => {
  for (const pageSize of [1, 2, 3, 7]) {
    test(`native, pages of ${pageSize}: the repeated record is stored once, and the walk ends`, async (t) => {
      const clock = testClock();
      const server = await nativeServer(t, clock, listings(7, clock));
      server.tokenTakesItsOwn = true;
      const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
      assert.equal(await replica.replicate({ pageSize }), 'done');
      assert.deepEqual(await replica.keys('Property'), keysUpTo(7));
      clock.advance(DAY);
      take(server.listings, keyOf(7));
      assert.equal(await replica.replicate({ pageSize }), 'done');
      assert.deepEqual(await replica.keys('Property'), keysUpTo(6));
    });
  }

  test('reso: links whose token includes its own record lose nothing, and the walk ends', async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(7, clock), ...NO_PEOPLE });
    const list = server.records.get('Property') ?? [];
    server.intercept = ({ path, query }) => {
      if (path !== '/odata/Property' || query.get('$top') === '1') return undefined;
      const token = query.get('$skiptoken') ?? '';
      const value = list.filter(({ ListingKey }) => String(ListingKey) >= token).slice(0, 3);
      const last = value.at(-1)?.ListingKey;
      return json({
        value,
        ...(value.length === 3 ? { '@odata.nextLink': `Property?$skiptoken=${last}` } : {}),
      });
    };
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(7));
  });
});

describe('TRAP 6: ListingKey is a string of digits', () => {
  const KEYS = ['1', '10', '100', '2', '20200218155334943123000000', '20200218155334943123000001', '9'];
  for (const kind of KINDS) {
    test(`${kind}: keys have the same byte-wise order everywhere, even beyond the range of a number`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...KEYS.map((key) => listing(key)));
      const replica = await feed.replica(t, kind);
      await replica.replicate({ pageSize: 2 });
      assert.deepEqual(await replica.keys('Property'), KEYS);
      await feed.store.remove('Property', ['10', '20200218155334943123000000']);
      feed.clock.advance(DAY);
      await replica.replicate({ pageSize: 2, force: true });
      assert.deepEqual(
        await replica.keys('Property'),
        KEYS.filter((key) => key !== '10' && key !== '20200218155334943123000000'),
      );
      assert.deepEqual(
        (await replica.verify()).flatMap(({ differences }) => differences),
        [],
      );
    });
  }
});

describe('TRAP 7: a purge concurrent with an update', () => {
  for (const kind of KINDS) {
    test(`${kind}: rows that were added after the sweep began are not deleted`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(8, 2).map((key) => listing(key)));
      const replica = await feed.replica(t, kind);
      await replica.replicate();
      feed.clock.advance(HOUR);
      const stop = new AbortController();
      await replica.replicate({
        step: 'purge',
        pageSize: 2,
        signal: stop.signal,
        onEvent: (event) => event.kind === 'page' && event.step === 'sweep' && stop.abort(),
      });
      // Before all other keys: the sweep has passed this position and will not see it.
      await feed.write('Property', listing(keyOf(1)));
      feed.clock.advance(60 * SECOND);
      await replica.replicate({ step: 'update' });
      assert.deepEqual(await replica.keys('Property'), keysUpTo(9));
      assert.equal(await replica.replicate({ step: 'purge', pageSize: 2 }), 'done');
      assert.deepEqual(await replica.keys('Property'), keysUpTo(9));
      assert.deepEqual(replica.reported('deleted'), []);
    });

    test(`${kind}: an unchanged record that an update read after the sweep began is not deleted either`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(5).map((key) => listing(key)));
      const replica = await feed.replica(t, kind);
      await replica.replicate();
      feed.clock.advance(HOUR);
      await feed.write('Property', listing(keyOf(1), { ListPrice: 7 }));
      feed.clock.advance(60 * SECOND);
      await replica.replicate({ step: 'update' });
      // Deleted while the sweep walks, and restored with the content of the copy before the update reads it.
      await feed.store.remove('Property', [keyOf(1)]);
      const stop = new AbortController();
      await replica.replicate({
        step: 'purge',
        pageSize: 2,
        signal: stop.signal,
        onEvent: (event) => event.kind === 'page' && event.step === 'sweep' && stop.abort(),
      });
      await feed.write('Property', listing(keyOf(1), { ListPrice: 7 }));
      feed.clock.advance(60 * SECOND);
      await replica.replicate({ step: 'update' });
      await replica.replicate({ step: 'purge', pageSize: 2 });
      assert.deepEqual(await replica.keys('Property'), keysUpTo(5));
      assert.deepEqual(replica.reported('deleted'), []);
    });

    test(`${kind}: a sweep that was interrupted deletes nothing`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(9).map((key) => listing(key)));
      const replica = await feed.replica(t, kind);
      await replica.replicate();
      feed.clock.advance(HOUR);
      await feed.store.remove('Property', [keyOf(1)]);
      const stop = new AbortController();
      const result = await replica.replicate({
        step: 'purge',
        pageSize: 3,
        signal: stop.signal,
        onEvent: (event) =>
          event.kind === 'page' && event.step === 'sweep' && event.done >= 6 && stop.abort(),
      });
      assert.deepEqual([result, await replica.keys('Property')], ['stopped', keysUpTo(9)]);
      await replica.replicate({ step: 'purge', pageSize: 3 });
      assert.deepEqual(await replica.keys('Property'), keysUpTo(8, 2));
    });
  }
});

describe("TRAP 8: a change of a Member or an Office does not move the listing's ModificationTimestamp", () => {
  for (const kind of KINDS) {
    test(`${kind}: the replica returns new data of agent and office in a listing that never moved`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Member', member('m', { MemberPreferredPhone: '111' }));
      await feed.write('Office', office('o', { OfficeName: 'Old' }));
      await feed.write('Property', listing('1', { ListAgentKey: 'm', ListOfficeKey: 'o' }));
      const replica = await feed.replica(t, kind);
      await replica.replicate();
      const shown = async () =>
        pick(
          await replica.record('Property', '1'),
          'ListAgentPreferredPhone',
          'ListOfficeName',
          'ModificationTimestamp',
        );
      const stamp = '2026-06-01T12:00:00.500Z';
      assert.deepEqual(await shown(), {
        ListAgentPreferredPhone: '111',
        ListOfficeName: 'Old',
        ModificationTimestamp: stamp,
      });
      feed.clock.advance(HOUR);
      await feed.write('Member', member('m', { MemberPreferredPhone: '222' }));
      await feed.write('Office', office('o', { OfficeName: 'New' }));
      feed.clock.advance(60 * SECOND);
      await replica.replicate();
      assert.deepEqual(await shown(), {
        ListAgentPreferredPhone: '222',
        ListOfficeName: 'New',
        ModificationTimestamp: stamp,
      });
    });
  }

  test("agent fields in a listing's payload are ignored: the Member's values are returned", async (t) => {
    const clock = testClock();
    const said = () => ({ ListAgentKey: 'm1', ListAgentFullName: 'Somebody Else' });
    const server = await odataServer(t, clock, { Property: listings(1, clock, said), ...people });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    await replica.replicate();
    assert.equal((await replica.record('Property', keyOf(1)))?.ListAgentFullName, 'Agent m1');
  });
});

describe('TRAP 9: a LocalName that differs from the API name is the current name', () => {
  test('a field that the source renames between two runs keeps its data and gets the new name', async (t) => {
    const clock = testClock();
    const declared = { ListPrice: 'Edm.Decimal', WineCellar: 'Edm.String' };
    const server = await odataServer(
      t,
      clock,
      { Property: listings(3, clock, () => ({ WineCellar: 'deep' })), ...NO_PEOPLE },
      { metadata: metadataOf(declared, [], { WineCellar: 'Interior: Wine Cellar' }) },
    );
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    const names = async () =>
      (await replica.store.model()).settings.declarations.customFields?.map(({ name, group, label }) => [
        name,
        group,
        label,
      ]);
    await replica.replicate();
    assert.deepEqual(await names(), [['WineCellar', 'Interior', 'Wine Cellar']]);
    server.traits.metadata = metadataOf(declared, [], { WineCellar: 'Below: Cellar Kind' });
    clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(await names(), [['WineCellar', 'Below', 'Cellar Kind']]);
    assert.deepEqual(
      (await replica.rows('Property')).map(({ WineCellar }) => WineCellar),
      ['deep', 'deep', 'deep'],
    );
  });

  test("INCIDENT a rename during a watch's discovery of the source is found by the next one", async (t) => {
    const clock = testClock();
    const declared = { ListPrice: 'Edm.Decimal', WineCellar: 'Edm.String' };
    const called = (name: string) => metadataOf(declared, [], { WineCellar: name });
    const records = { Property: listings(1, clock, () => ({ WineCellar: 'deep' })), ...NO_PEOPLE };
    const server = await odataServer(t, clock, records, { metadata: called('Interior: Wine Cellar') });
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    const ended = new AbortController();
    let read = 0;
    let discovered = 0;
    server.intercept = ({ path }) => {
      if (path.endsWith('$metadata') && ++read === 9) ended.abort();
      return undefined;
    };
    const onEvent = ({ kind }: ReplicaEvent): void => {
      if (kind !== 'source') return;
      discovered++;
      // The metadata was read just before this event.
      server.traits.metadata = called(discovered === 1 ? 'Below: Cellar Kind' : 'Deep: Vault');
    };
    assert.equal(await replica.replicate({ watch: true, signal: ended.signal, onEvent }), 'stopped');
    assert.ok(discovered >= 3, `${discovered}`);
    const { declarations } = (await replica.store.model()).settings;
    assert.deepEqual(
      declarations.customFields?.map(({ name, group, label }) => [name, group, label]),
      [['WineCellar', 'Deep', 'Vault']],
    );
  });
});

describe('TRAP 10: a smaller page size does not change the position', () => {
  for (const kind of KINDS) {
    test(`${kind}: pages that the source refuses are requested smaller with the same token, and every row is copied`, async (t) => {
      const feed = await platFeed(t);
      await feed.write('Property', ...keysUpTo(40).map((key) => listing(key)));
      const refused: string[] = [];
      const asked: string[] = [];
      const tokenOf = (url: string): string => /skiptoken=(\d*)/.exec(url)?.[1] ?? '';
      const replica = await feed.replica(t, kind, {
        between: withFaults((url) => {
          const [, size = ''] = /(?:top|_limit)=(\d+)/.exec(url) ?? [];
          if (!/skiptoken=\d/.test(url) || /select/.test(url)) return 'pass';
          asked.push(tokenOf(url));
          if (Number(size) <= 12) return 'pass';
          refused.push(tokenOf(url));
          return 'busy';
        }),
      });
      await replica.replicate({ step: 'initial', pageSize: 20 });
      assert.deepEqual(await replica.keys('Property'), keysUpTo(40));
      assert.ok(refused.length > 0);
      for (const token of refused) assert.ok(asked.lastIndexOf(token) > asked.indexOf(token), token);
    });
  }
});

describe('TRAP 11: during the native initial download only _limit, _skiptoken and _select are sent', () => {
  test('sub-data is requested separately for each page, and is complete', async (t) => {
    const feed = await platFeed(t);
    await feed.write(
      'Property',
      ...keysUpTo(5).map((key) => listing(key, { Media: [photo(`p${key}`)], Rooms: [room(`r${key}`)] })),
    );
    const replica = await feed.replica(t, 'native');
    await replica.replicate({ step: 'initial', pageSize: 2 });
    const list = replica.requests.filter((url) => url.startsWith('listings?'));
    const expansions = 'Photos,Videos,VirtualTours,Rooms,Units,OpenHouses,Documents,FloorPlans';
    const download = list.filter((url) => url.includes('_skiptoken'));
    for (const url of download) assert.match(url, /^listings\?_limit=\d+&_skiptoken=\d*$/);
    assert.deepEqual(
      download.map((url) => /_skiptoken=(.*)/.exec(url)?.[1]),
      ['', keyOf(2), keyOf(4), keyOf(5)],
    );
    assert.deepEqual(
      list.filter((url) => url.includes('_filter')),
      [keysUpTo(2), keysUpTo(2, 3), keysUpTo(1, 5)].map((keys) => {
        const named = keys.map((key) => `'${key}'`).join(',');
        return `listings?_limit=${keys.length}&_filter=ListingKey Eq ${named}&_select=ListingKey&_expand=${expansions}`;
      }),
    );
    assert.deepEqual(
      await replica.keys('Media'),
      keysUpTo(5).map((key) => `p${key}`),
    );
    assert.deepEqual(
      await replica.keys('PropertyRooms'),
      keysUpTo(5).map((key) => `r${key}`),
    );
  });
});

describe('TRAP 11: sub-data in batches', () => {
  test('if a source returns fewer listings than were requested, the others are requested again', async (t) => {
    const clock = testClock();
    const photos = (number: number) => ({ Photos: [{ Id: `p${number}`, Uri800: 'https://img.example/1' }] });
    const server = await nativeServer(t, clock, listings(10, clock, photos));
    server.page = 4;
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock, resources });
    await replica.replicate();
    // These pages are too small for a request for each: their sub-data is requested after the download.
    const isDownload = ({ query }: Seen): boolean => query.has('_skiptoken') && !query.has('_select');
    assert.ok(server.seen.findIndex(isSubData) > server.seen.findLastIndex(isDownload));
    assert.deepEqual(await replica.keys('Property'), keysUpTo(10));
    assert.deepEqual((await replica.keys('Media')).length, 10);
    assert.deepEqual(
      server.asked('listings').flatMap((url) => /_limit=(\d+)&_filter=ListingKey/.exec(url)?.[1] ?? []),
      ['10', '6', '2'],
    );
  });
});

describe('TRAP 11: sub-data that arrived before a failure', () => {
  const photos = (number: number) => ({
    Photos: [{ Id: `p${keyOf(number)}`, Uri800: 'https://img.example/1' }],
  });
  const refused = () => failure(400, 400, 'Not all at once');
  const scene = async (scope: Scope) => {
    const clock = testClock();
    const server = await nativeServer(scope, clock, listings(450, clock, photos));
    const from = { from: server.root, interface: 'native', resources: ['Property'] } as const;
    const replica = await makeReplica(scope, { ...from, clock });
    const isDownload = (): boolean => !replica.reported('step').some(({ step }) => step === 'sub-data');
    return { server, replica, isDownload };
  };
  /** The keys of the requests for sub-data. */
  const asked = (server: NativeServer): string[][] =>
    server.seen.filter(isSubData).map(({ query }) => query.get('_filter')?.match(/\d+/g) ?? []);
  const stored = (replica: TestReplica): number[] =>
    replica.reported('page').flatMap(({ step, rows }) => (step === 'sub-data' ? [rows] : []));
  const photosUpTo = (count: number): string[] => keysUpTo(count).map((key) => `p${key}`);

  test('a page is stored with its sub-data, in one transaction', async (t) => {
    const { server, replica } = await scene(t);
    await replica.replicate();
    assert.deepEqual(
      asked(server).map(({ length }) => length),
      [50, 200, 150, 50],
    );
    // The first page has few listings, and its sub-data is requested at the end.
    assert.deepEqual(stored(replica), [50]);
    assert.deepEqual(await replica.keys('Media'), photosUpTo(450));
  });

  test('responses after the download are stored together, in one transaction', async (t) => {
    const { server, replica, isDownload } = await scene(t);
    server.intercept = (seen) => (isSubData(seen) && isDownload() ? refused() : undefined);
    await replica.replicate();
    assert.deepEqual(
      asked(server).map(({ length }) => length),
      [50, 50, 200, 200],
    );
    assert.deepEqual(stored(replica), [450]);
    assert.deepEqual(await replica.keys('Media'), photosUpTo(450));
  });

  test('what a page lacks because a request failed is requested after the download, and nothing else', async (t) => {
    const { server, replica, isDownload } = await scene(t);
    server.intercept = (seen) =>
      isSubData(seen) && isDownload() && asked(server).length > 1 ? refused() : undefined;
    await replica.replicate();
    const [first = [], failed = [], ...after] = asked(server);
    assert.deepEqual(failed, keysUpTo(200, 51 + first.length));
    assert.deepEqual(
      after.flat().toSorted(),
      keysUpTo(450).filter((key) => !first.includes(key)),
    );
    assert.deepEqual(await replica.keys('Media'), photosUpTo(450));
  });

  test('they are stored although a later answer fails, and are not requested again', async (t) => {
    const { server, replica, isDownload } = await scene(t);
    server.intercept = (seen) => {
      if (!isSubData(seen)) return undefined;
      if (isDownload()) return refused();
      return asked(server).length > 3 ? failure(503, 503, 'Not now') : undefined;
    };
    await assert.rejects(replica.replicate(), { name: 'RequestFailure' });
    assert.deepEqual(stored(replica), [250]);
    assert.deepEqual(await replica.keys('Media'), photosUpTo(250));
    const before = asked(server).length;
    server.intercept = () => undefined;
    await replica.replicate();
    assert.deepEqual(await replica.keys('Media'), photosUpTo(450));
    assert.deepEqual(asked(server).slice(before).flat(), keysUpTo(200, 251));
  });
});

describe('TRAP 12: "********" means hidden', () => {
  test('masked fields are neither stored nor quarantined; the other fields are stored', async (t) => {
    const feed = await platFeed(t, { role: 'idx' });
    await feed.write('Property', listing('1', { ListPrice: 5, PrivateRemarks: 'The key is under the mat' }));
    const replica = await feed.replica(t, 'native');
    await replica.replicate();
    assert.deepEqual(await replica.quarantine(), []);
    const [record] = await replica.exported('Property');
    assert.deepEqual(pick(record, 'ListingKey', 'ListPrice', 'PrivateRemarks'), {
      ListingKey: '1',
      ListPrice: 5,
      PrivateRemarks: undefined,
    });
    assert.equal(JSON.stringify(await replica.exported('Property')).includes('****'), false);
  });

  test('a field that is no longer masked causes a full download, since no timestamp moves', async (t) => {
    const clock = testClock();
    const hidden = (number: number) => ({ PrivateRemarks: `Remark ${number}` });
    const server = await nativeServer(
      t,
      clock,
      listings(3, clock, () => ({ PrivateRemarks: '********' })),
    );
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
    await replica.replicate();
    server.listings = listings(3, clock, hidden).map((each, at) => ({
      ...server.listings[at],
      ...hidden(at + 1),
      ListPrice: each.ListPrice,
    }));
    clock.advance(HOUR);
    change(server.listings, keyOf(2), { ListPrice: 7 }, clock);
    clock.advance(600 * SECOND);
    await replica.replicate();
    assert.deepEqual(replica.reported('refresh'), [
      { reason: 'fields that were masked are readable now, or vice versa' },
    ]);
    assert.deepEqual(
      (await replica.rows('Property')).map(({ PrivateRemarks }) => PrivateRemarks),
      ['Remark 1', 'Remark 2', 'Remark 3'],
    );
  });
});
