/** Delta links as a source of changes: which responses and entries are accepted, and what they become. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestFailure } from '../../../../src/replica/http/failure.ts';
import { deltaFeed, readEntry } from '../../../../src/replica/source/reso/delta-links.ts';
import { pageReader } from '../../../../src/replica/source/reso/lists.ts';
import type { ChangeFeed, FeedReport } from '../../../../src/replica/source/source.ts';
import { listing } from '../../../support/builders.ts';
import { testClock } from '../../../support/clock.ts';
import type { Scope } from '../../../support/engine.ts';
import type { Json } from '../../../support/world.ts';
import { clientOf } from '../../support/client.ts';
import { json } from '../../support/loopback.ts';
import { odataServer } from '../../support/odata-server.ts';
import { makeReplica, SOURCE } from '../../support/replica.ts';

const ROOT = 'http://feed.test/odata/';
const DATE = 'Mon, 01 Jun 2026 12:00:00 GMT';
const AT = Date.parse(DATE);

interface Answer {
  readonly status?: number;
  readonly body?: Json;
}

interface Scripted {
  readonly feed: ChangeFeed;
  /** URLs without the root, decoded, each with its preference. */
  readonly asked: string[];
  readonly slept: number[];
}

/** A feed whose source responds in this thread. Sleeps return at once and advance the clock. */
function scripted(
  scope: Scope,
  answer: (path: string) => Answer,
  { isWhole = true, largest = 1_000_000 }: { readonly isWhole?: boolean; readonly largest?: number } = {},
): Scripted {
  const asked: string[] = [];
  const slept: number[] = [];
  let now = AT;
  const clock = {
    now: () => now,
    sleep: async (milliseconds: number) => {
      slept.push(milliseconds);
      now += milliseconds;
    },
  };
  const { client } = clientOf(scope, 'http://feed.test', {
    root: new URL(ROOT),
    largest,
    backoff: { base: 1, longest: 1, attempts: 1 },
    environment: {
      clock,
      random: () => 0,
      transport: async ({ url, headers }) => {
        const path = decodeURIComponent(url.replace(ROOT, ''));
        asked.push(`${path} ${headers.prefer}`);
        const { status = 200, body = { error: { code: '', message: 'no' } } } = answer(path);
        const text = JSON.stringify(body);
        return {
          status,
          headers: { date: DATE },
          body: (async function* () {
            yield Buffer.from(text);
          })(),
        };
      },
    },
  });
  const feed = deltaFeed({
    client,
    readPage: pageReader(client),
    root: ROOT,
    clock,
    every: (collections) => 1000 * collections,
    optionsOf: (name) => (name === 'Property' ? ['$expand=Media'] : []),
    keyOf: (name) => (name === 'Property' ? 'ListingKey' : 'MemberKey'),
    itemOf: isWhole ? (resource, json) => ({ resource, json }) : undefined,
  });
  return { feed, asked, slept };
}

const signal = new AbortController().signal;
const now = (feed: ChangeFeed, walked = {}) => feed.currentPosition(['Member', 'Property'], signal, walked);

/** The first `count` reports of a feed after a position. */
async function reportsOf(feed: ChangeFeed, links: Json, count: number): Promise<FeedReport[]> {
  const found: FeedReport[] = [];
  for await (const each of feed.changesSince(JSON.stringify(links), Object.keys(links), signal, () => 7)) {
    found.push(each);
    if (found.length === count) break;
  }
  return found;
}

const isRejected = (message: RegExp) => (error: unknown) =>
  error instanceof RequestFailure && error.kind === 'rejected' && message.test(error.message);

test('the first links are requested without records, and with the expansions of a walk', async (t) => {
  const { feed, asked } = scripted(t, (path) => ({
    body: { value: [], '@odata.deltaLink': `${path.split('?')[0]}?$deltatoken=1` },
  }));
  assert.deepEqual(await now(feed), {
    position: JSON.stringify({
      Member: `${ROOT}Member?$deltatoken=1`,
      Property: `${ROOT}Property?$deltatoken=1`,
    }),
    unreported: [],
  });
  assert.deepEqual(asked, [
    'Member?$top=0 odata.track-changes',
    'Property?$top=0&$expand=Media odata.track-changes',
  ]);
});

test('a collection without a delta link falls back to windows; a source without any offers no deltas', async (t) => {
  const linked = { value: [], '@deltaLink': `${ROOT}d` };
  const one = scripted(t, (path) =>
    path.startsWith('Property') ? { body: linked } : { body: { value: [] } },
  );
  assert.deepEqual(await now(one.feed), {
    position: JSON.stringify({ Property: `${ROOT}d` }),
    unreported: ['Member'],
  });
  for (const answer of [{ body: { value: [] } }, { status: 400 }, { status: 501 }]) {
    const { feed } = scripted(t, () => answer);
    await assert.rejects(now(feed), isRejected(/returned no delta links/));
  }
});

test('if only a whole walk gives a link, the one of the download is used, unless it is dead', async (t) => {
  const link = `${ROOT}walked`;
  const dead = new Set<string>();
  const { feed } = scripted(t, (path) =>
    path === 'walked' && !dead.has(path)
      ? { body: { value: [] } }
      : { status: path === 'walked' ? 410 : 400 },
  );
  assert.deepEqual(await now(feed, { Property: link }), {
    position: JSON.stringify({ Property: link }),
    unreported: ['Member'],
  });
  dead.add('walked');
  await assert.rejects(now(feed, { Property: link }), isRejected(/returned no delta links/));
});

test('changes are reported page by page with their records; a new link is stored when it brought changes, or after a minute', async (t) => {
  const record = { ListingKey: '1', ListPrice: 5 };
  const pages: Readonly<Record<string, Json>> = {
    first: { value: [record], '@odata.nextLink': 'second' },
    second: { value: [{ '@removed': { reason: 'deleted' }, ListingKey: '2' }], '@odata.deltaLink': 'quiet0' },
  };
  const quiet = (path: string): Json => ({
    value: [],
    '@odata.deltaLink': `quiet${Number(path.replace('quiet', '')) + 1}`,
  });
  const { feed, asked, slept } = scripted(t, (path) => ({ body: pages[path] ?? quiet(path) }));
  const events = await reportsOf(feed, { Property: `${ROOT}first` }, 64);
  const position = (link: string) => ({
    kind: 'position',
    position: JSON.stringify({ Property: `${ROOT}${link}` }),
    isLevel: true,
  });
  assert.deepEqual(events.slice(0, 4), [
    {
      kind: 'changes',
      changes: [
        {
          resource: 'Property',
          key: '1',
          at: undefined,
          isDeleted: false,
          found: { item: { resource: 'Property', json: record }, asOf: 7 },
        },
      ],
    },
    {
      kind: 'changes',
      changes: [
        { resource: 'Property', key: '2', at: AT, isDeleted: true, found: { item: undefined, asOf: 7 } },
      ],
    },
    position('quiet0'),
    position('quiet0'),
  ]);
  // Requests always use the newest link; after a minute it is stored as well.
  assert.deepEqual(asked.slice(0, 5), [
    'first odata.maxpagesize=1000',
    'second odata.maxpagesize=1000',
    'quiet0 odata.maxpagesize=1000',
    'quiet1 odata.maxpagesize=1000',
    'quiet2 odata.maxpagesize=1000',
  ]);
  assert.deepEqual(events.slice(61), [position('quiet0'), position('quiet60'), position('quiet60')]);
  assert.deepEqual(slept.slice(0, 2), [1000, 1000]);
});

test('a delta link without the prefix of the path that a proxy removes is followed at the path of its collection', async (t) => {
  const { origin } = new URL(ROOT);
  const { feed, asked } = scripted(t, (path) =>
    path.startsWith('http')
      ? { status: 404 }
      : { body: { value: [], '@odata.deltaLink': `${origin}/Property?$deltatoken=${asked.length}` } },
  );
  await reportsOf(feed, { Property: `${origin}/Property?$deltatoken=0` }, 2);
  assert.deepEqual(asked.slice(0, 3), [
    `${origin}/Property?$deltatoken=0 odata.maxpagesize=1000`,
    'Property?$deltatoken=0 odata.maxpagesize=1000',
    'Property?$deltatoken=2 odata.maxpagesize=1000',
  ]);
});

test('if the source is not plat, changes are reported without the record', async (t) => {
  const entries = [{ ListingKey: '1', ListPrice: 5 }];
  const { feed } = scripted(t, () => ({ body: { value: entries, '@odata.deltaLink': 'd' } }), {
    isWhole: false,
  });
  assert.deepEqual(await reportsOf(feed, { Property: `${ROOT}first` }, 1), [
    { kind: 'changes', changes: [{ resource: 'Property', key: '1', at: AT, isDeleted: false }] },
  ]);
});

for (const status of [400, 404, 410]) {
  test(`a link that is answered with ${status} is reported as lost`, async (t) => {
    const { feed } = scripted(t, () => ({ status }));
    assert.deepEqual(await reportsOf(feed, { Property: `${ROOT}d` }, 5), [
      { kind: 'expired', position: undefined },
    ]);
  });
}

test('a page that is too large is requested with fewer records', async (t) => {
  const long = 'x'.repeat(2000);
  let asked = 0;
  const { feed, asked: all } = scripted(
    t,
    () => ({
      body: {
        value: [{ ListingKey: '1', PublicRemarks: ++asked < 4 ? long : '' }],
        '@odata.deltaLink': 'd',
      },
    }),
    { largest: 1000 },
  );
  assert.equal((await reportsOf(feed, { Property: `${ROOT}first` }, 1))[0]?.kind, 'changes');
  assert.deepEqual(
    all.map((each) => each.replace('first odata.maxpagesize=', '')),
    ['1000', '250', '63', '16'],
  );
});

test('a delta that repeats a link, or ends without a delta link, is rejected', async (t) => {
  const round = scripted(t, () => ({ body: { value: [], '@odata.nextLink': 'again' } }));
  await assert.rejects(
    reportsOf(round.feed, { Property: `${ROOT}first` }, 1),
    isRejected(/link .*again twice/),
  );
  const short = scripted(t, () => ({ body: { value: [] } }));
  await assert.rejects(reportsOf(short.feed, { Property: `${ROOT}first` }, 1), isRejected(/without a link/));
});

const CONTEXT = `${ROOT}$metadata#Property`;
test('entries are read in the forms of OData 4.0 and 4.01', () => {
  const cases: readonly (readonly [Json, string])[] = [
    [{ ListingKey: 'L1' }, 'changed L1'],
    [{ ListingKey: 5 }, 'changed 5'],
    [{ '@odata.context': `${CONTEXT}(ListingKey,Media(MediaKey))/$entity`, ListingKey: 'L1' }, 'changed L1'],
    [{ '@id': "Property('L1')", ListPrice: 5 }, 'changed L1'],
    [{ '@odata.id': `${ROOT}Property(ListingKey='it''s%20one')` }, "changed it's one"],
    [{ '@removed': { reason: 'changed' }, ListingKey: 'L1' }, 'removed L1'],
    [{ '@odata.removed': { reason: 'deleted' }, '@odata.id': 'Property(17)' }, 'removed 17'],
    [
      { '@odata.context': `${CONTEXT}/$deletedEntity`, id: `${ROOT}Property('L1')`, reason: 'deleted' },
      'removed L1',
    ],
    [
      {
        '@odata.context': `${CONTEXT}/$deletedLink`,
        source: "Property('L1')",
        relationship: 'Media',
        target: "Media('M1')",
      },
      'related L1',
    ],
  ];
  for (const [entry, expected] of cases) {
    const { kind, key } = readEntry(entry, 'Property', 'ListingKey');
    assert.equal(`${kind} ${key}`, expected);
  }
  const unreadable: readonly unknown[] = [
    null,
    'L1',
    {},
    { '@removed': { reason: 'deleted' } },
    { id: "Property('L1')" },
    { '@odata.context': `${ROOT}$metadata#Media/$entity`, ListingKey: 'L1' },
    { '@odata.context': `${ROOT}$metadata#Media/$deletedEntity`, id: "Media('M1')" },
    { '@odata.context': `${CONTEXT}/$link`, source: "Member('A1')" },
  ];
  for (const entry of unreadable) {
    assert.throws(() => readEntry(entry, 'Property', 'ListingKey'), isRejected(/names none of its records/));
  }
});

for (const refuses of [false, true]) {
  test(`the delta link of the last page of a download is stored${refuses ? ', unless the source refuses the preference' : ''}`, async (t) => {
    const clock = testClock();
    const server = await odataServer(
      t,
      clock,
      { Property: [listing('1'), listing('2'), listing('3')] },
      { page: 2 },
    );
    const replica = await makeReplica(t, {
      from: server.root,
      interface: 'reso',
      clock,
      resources: ['Property'],
    });
    const areTracked: boolean[] = [];
    server.intercept = ({ query, headers }) => {
      const preferred = String(headers.prefer);
      if (!preferred.includes('omit-values')) return undefined;
      const isTracked = preferred.includes('odata.track-changes');
      areTracked.push(isTracked);
      if (refuses && isTracked) return json({}, { status: 501 });
      const isLast = query.has('$skiptoken');
      const value = isLast ? [listing('3')] : [listing('1'), listing('2')];
      const next = { '@odata.nextLink': `${server.root}Property?$top=50&$skiptoken=2` };
      return json({ value, ...(isLast ? (refuses ? {} : { '@odata.deltaLink': 'Property?delta' }) : next) });
    };
    await replica.replicate({ step: 'initial' });
    assert.deepEqual(await replica.keys('Property'), ['1', '2', '3']);
    assert.deepEqual(areTracked, refuses ? [true, false, false] : [true, false]);
    const { walked } = await replica.store.checkpoints.state(SOURCE);
    assert.deepEqual(walked, refuses ? undefined : { Property: `${server.root}Property?delta` });
  });
}
