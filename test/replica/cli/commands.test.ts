/** The consumer's commands against a server that a test controls: exit codes, the guard, the quarantine, verify. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { place } from '../../cli/run.ts';
import { testClock } from '../../support/clock.ts';
import type { Json } from '../../support/world.ts';
import { keyOf, keysUpTo, listings, take } from '../support/feed.ts';
import { json } from '../support/loopback.ts';
import { nativeServer } from '../support/native-server.ts';
import { metadataOf, odataServer } from '../support/odata-server.ts';

/** Commands use the real clock. */
const now = () => testClock(new Date().toISOString());

const options = (root: string, ...more: readonly string[]): string[] => [
  '--from',
  root,
  '--interface',
  'reso',
  '--token',
  'secret',
  '--source',
  'feed',
  '--resources',
  'Property',
  '--store',
  'replica.db',
  ...more,
];

const keysOf = (records: readonly Json[]): string[] =>
  records.map(({ ListingKey }) => String(ListingKey)).toSorted();

test('a purge that would delete too much exits with 3 and deletes nothing; --force deletes', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(10, clock) });
  const at = place(t);
  const once = ['replicate', ...options(server.root)];
  await at.done(once);
  take(server.records.get('Property') ?? [], ...keysUpTo(3));
  const guarded = await at.run([...once, '--step', 'purge']);
  assert.equal(guarded.code, 3);
  assert.match(guarded.err, /"kind":"guarded","resource":"Property","rows":3,"of":10}/);
  assert.match(guarded.err, /"kind":"end","result":"guarded"}/);
  assert.equal((await at.exported('replica.db', 'Property')).length, 10);
  const differs = await at.run(['verify', ...options(server.root)]);
  assert.equal(differs.code, 3);
  assert.match(differs.out, /^Property +7 +10 +7 +0 +3$/m);
  assert.match(differs.out, /^Property 1001: not-at-source$/m);
  await at.done([...once, '--step', 'purge', '--force']);
  assert.deepEqual(keysOf(await at.exported('replica.db', 'Property')), keysUpTo(7, 4));
  const equal = await at.done(['verify', ...options(server.root, '--json', '--sample', '2')]);
  assert.deepEqual(JSON.parse(equal), {
    equal: true,
    resources: [{ resource: 'Property', atSource: 7, stored: 7, compared: 2, pending: 0, differences: [] }],
  });
  // A share that a person gives with --purge-share allows the same.
  take(server.records.get('Property') ?? [], ...keysUpTo(3, 4));
  await at.done([...once, '--step', 'purge', '--purge-share', '50']);
  assert.deepEqual(keysOf(await at.exported('replica.db', 'Property')), keysUpTo(4, 7));
});

test('verify of a copy whose download is not complete exits with 3 and reports that', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(12, clock) }, { page: 4 });
  const at = place(t);
  server.intercept = ({ query }) =>
    query.get('$skiptoken') === '8.0' ? { status: 403, body: 'No' } : undefined;
  assert.equal((await at.run(['replicate', ...options(server.root), '--step', 'initial'])).code, 1);
  server.intercept = () => undefined;
  const verified = await at.run(['verify', ...options(server.root)]);
  assert.equal(verified.code, 3);
  assert.match(verified.out, /^Property: the copy is not complete: its download has not ended \(initial\)$/m);
});

test('a change that moves no timestamp is found by verify, and copied by --refresh only', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(6, clock) });
  const at = place(t);
  const once = ['replicate', ...options(server.root)];
  await at.done(once);
  // A change that moves no timestamp.
  const list = server.records.get('Property') ?? [];
  list[2] = { ...list[2], City: 'Elsewhere' };
  await at.done(once);
  const before = await at.run(['verify', ...options(server.root)]);
  assert.equal(before.code, 3);
  assert.match(before.out, /^Property 1003: content, City$/m);
  const { err } = await at.run([...once, '--refresh']);
  assert.match(err, /"kind":"refresh","reason":"it was requested"/);
  await at.done(['verify', ...options(server.root)]);
  const wrong = await at.run([...once, '--refresh', '--watch']);
  assert.equal(wrong.code, 2);
});

test('the same feed under a second name is quarantined: exit 1, and the first message names the source that has it', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const at = place(t);
  await at.done(['replicate', ...options(server.root)]);
  const { code, err } = await at.run(['replicate', ...options(server.root, '--source', 'again')]);
  assert.equal(code, 1);
  assert.match(
    err,
    /"kind":"doubt","reason":"replica\.db already has the records of again, from the source feed\./,
  );
  assert.match(err, /"kind":"end","result":"done","quarantined":{"Property":3}}\n$/);
  assert.match(
    await at.done(['quarantine', 'list', '--store', 'replica.db']),
    /^again +Property +1001 .* The key belongs to the source feed$/m,
  );
  await at.done(['replicate', ...options(server.root)]);
  await at.done(['verify', ...options(server.root)]);
});

test('a copy without agents and offices keeps the agent fields of its listings, and says so', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, {
    Property: listings(2, clock, () => ({ ListAgentFullName: 'Ann' })),
    Member: [],
    Office: [],
  });
  const at = place(t);
  const source = ['--from', server.root, '--interface', 'reso', '--token', 'secret'];
  const says = 'agent and office fields of listings are those that the source sent';
  for (const [resources, keeps] of [
    ['Property', true],
    ['Property,Member', false],
  ] as const) {
    const store = ['--store', `${resources}.db`];
    const { code, err } = await at.run(['replicate', ...source, ...store, '--resources', resources]);
    assert.deepEqual([code, err.includes(says)], [0, keeps], err);
    assert.equal((await at.done(['status', ...store])).includes(`  ${says}\n`), keeps);
    const [first] = await at.exported(`${resources}.db`, 'Property');
    assert.equal(first?.ListAgentFullName, keeps ? 'Ann' : undefined);
  }
  // The default resources are those of them that the source has.
  const metadata = metadataOf({ ModificationTimestamp: 'Edm.DateTimeOffset' }).replaceAll(
    /<EntitySet Name="(Member|Office)"[^>]*>/g,
    '',
  );
  const fields = { Property: listings(2, clock, () => ({ ListAgentFullName: 'Ann' })) };
  const bare = await odataServer(t, clock, fields, { metadata });
  const store = ['--store', 'bare.db'];
  const from = ['--from', bare.root, '--interface', 'reso', '--token', 'secret', ...store];
  for (const run of ['first', 'second']) {
    const { code, err } = await at.run(['replicate', ...from]);
    assert.deepEqual([run, code, err.includes('"kind":"end","result":"done"}')], [run, 0, true], err);
  }
  assert.ok((await at.done(['status', ...store])).includes(`  ${says}\n`));
  const [kept] = await at.exported('bare.db', 'Property');
  assert.equal(kept?.ListAgentFullName, 'Ann');
  await at.done(['verify', ...from]);
});

test('a resource that the source does not have is an error if it was requested, and only reported otherwise', async (t) => {
  const clock = now();
  const metadata = metadataOf({ ModificationTimestamp: 'Edm.DateTimeOffset' }).replace(
    /<EntitySet Name="Office"[^>]*>/,
    '',
  );
  const server = await odataServer(t, clock, { Property: listings(2, clock), Member: [] }, { metadata });
  const at = place(t);
  const source = ['--from', server.root, '--interface', 'reso', '--token', 'secret', '--store', 'replica.db'];
  const named = await at.run(['replicate', ...source, '--resources', 'Property,Office']);
  assert.equal(named.code, 2);
  assert.match(named.err, /The source has no Office: its metadata has no such entity set\./);
  const usual = await at.run(['replicate', ...source]);
  assert.equal(usual.code, 0);
  assert.match(usual.err, /"copies Property, Member","has no Office"/);
  assert.match(await at.done(['status', '--store', 'replica.db']), /^ {2}has no Office$/m);
  const none = await at.run(['replicate', ...source, '--resources', ',']);
  assert.equal(none.code, 2);
  assert.match(none.err, /--resources names no resource\./);
  const filled = await at.run(['replicate', ...source, '--resources', 'Property,EntityEvent']);
  assert.equal(filled.code, 2);
  assert.match(filled.err, /The store fills EntityEvent itself/);
  const derived = await at.run(['replicate', ...source, '--resources', 'Property,Lookup']);
  assert.equal(derived.code, 2);
  assert.match(derived.err, /The store fills Lookup itself, from its records and the dictionary\./);
});

for (const [kind, asked] of [
  ['reso', /\$metadata|\$top=1\b/],
  ['native', /fields|_select=ListingKey$/],
] as const) {
  test(`a new replica asks its source once for what it can do (${kind})`, async (t) => {
    const clock = now();
    const server =
      kind === 'reso'
        ? await odataServer(t, clock, { Property: listings(3, clock) }, { expands: ['Media'] })
        : await nativeServer(t, clock, listings(3, clock));
    const at = place(t);
    const source = ['--from', server.root, '--interface', kind, '--token', 'secret', '--store', 'r.db'];
    const probes = (): string[] => server.seen.map(({ url }) => url).filter((url) => asked.test(url));
    await at.done(['replicate', ...source, '--resources', 'Property']);
    assert.ok(probes().length >= 3, probes().join());
    assert.equal(new Set(probes()).size, probes().length, probes().join());
    const first = probes();
    // A later run asks again: the source may have changed.
    await at.done(['replicate', ...source, '--resources', 'Property']);
    assert.deepEqual(probes(), [...first, ...first]);
  });
}

test('metadata without entity sets is an error, not an empty copy', async (t) => {
  const clock = now();
  const metadata = metadataOf({}).replace(/<EntitySet [^>]*>/g, '');
  const server = await odataServer(t, clock, { Property: listings(2, clock) }, { metadata });
  const at = place(t);
  const source = ['--from', server.root, '--interface', 'reso', '--token', 'secret', '--store', 'replica.db'];
  const { code, err } = await at.run(['replicate', ...source]);
  assert.equal(code, 2);
  assert.match(err, /The source has no Property: its metadata has no such entity set\./);
});

test('an interrupted verify exits with 130 or 143 within a moment and says that nothing is proven', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(6, clock) });
  const at = place(t);
  await at.done(['replicate', ...options(server.root)]);
  for (const [signal, exit] of [
    ['SIGINT', 130],
    ['SIGHUP', 143],
  ] as const) {
    const { child, ended } = at.start(['verify', ...options(server.root)]);
    server.intercept = ({ path, query }) => {
      if (!path.endsWith('/Property') || query.get('$top') !== '50') return undefined;
      child.kill(signal);
      return { stalls: true, body: '{' };
    };
    const { code, out, err } = await ended;
    assert.deepEqual([code, out], [exit, '']);
    assert.match(err, /^plat: The verification was interrupted and has no result\.$/m);
  }
});

test('a run that could not fetch media files says how many listings lack some, and exits with 1', async (t) => {
  const clock = now();
  const media = (number: number): Json =>
    number === 2 ? { Media: [{ MediaKey: 'M', MediaURL: 'http://127.0.0.1:1/m.jpg' }] } : { Media: [] };
  const server = await odataServer(t, clock, { Property: listings(3, clock, media) }, { expands: ['Media'] });
  const at = place(t);
  const copying = ['replicate', ...options(server.root, '--media', 'files')];
  const end = /"kind":"end","result":"done","withoutFiles":1\}\n$/;
  // The second run does not ask the host again, which is too early; the file is missing all the same.
  for (const run of [1, 2]) {
    const { code, err } = await at.run(copying);
    assert.equal(code, 1, `run ${run}`);
    assert.match(err, end);
  }
  assert.match(await at.done(['status', '--store', 'replica.db']), /^1 listings lack media files$/m);
  const [source] = JSON.parse(await at.done(['status', '--store', 'replica.db', '--json'])).sources;
  assert.equal(source.withoutFiles, 1);
  await at.done([...copying, '--step', 'update']);
  await at.done(['replicate', ...options(server.root)]);
});

test('quarantine list and retry: a retry stores records that are valid now and lists the others', async (t) => {
  const clock = now();
  const wrong = (number: number): Json =>
    number === 2 ? { ListPrice: 'much' } : number === 3 ? { Own: 'x' } : {};
  const server = await odataServer(t, clock, { Property: listings(4, clock, wrong) });
  const at = place(t);
  const left = await at.run(['replicate', ...options(server.root, '--drift', 'freeze')]);
  assert.equal(left.code, 1, 'quarantined records make the exit code 1');
  assert.match(left.err, /"kind":"end","result":"done","quarantined":\{"Property":2\}\}\n$/);
  const reasons = [
    [keyOf(2), 'ListPrice is "much", but takes a number'],
    [keyOf(3), 'The dictionary has no Property.Own'],
  ];
  const list = JSON.parse(await at.done(['quarantine', 'list', '--store', 'replica.db', '--json']));
  assert.deepEqual(
    list.map(({ key, reason }: Json) => [key, reason]),
    reasons,
  );
  const text = await at.done(['quarantine', 'list', '--store', 'replica.db', '--source', 'feed']);
  assert.match(text, /^source +resource +key +since +attempts +reason$/m);
  assert.match(text, /^feed +Property +1002 +\S+ +\d+ +ListPrice is "much", but takes a number$/m);
  const later = await at.run(['quarantine', 'retry', '--store', 'replica.db']);
  const summary = (numbers: string, ...still: readonly number[]) =>
    [
      `0 stored, 0 gone at the source, ${numbers} still in quarantine`,
      ...still.map((number) => `Property ${keyOf(number)}: ${reasons[number - 2]?.[1]}`),
      '',
    ].join('\n');
  assert.deepEqual([later.code, later.out], [1, summary('1 to be fetched by the next run, 1', 2)]);
  const retried = await at.run([
    'quarantine',
    'retry',
    ...options(server.root).filter((each) => each !== '--resources' && each !== 'Property'),
  ]);
  // Stored without its field, the record would differ from that of the source.
  assert.deepEqual([retried.code, retried.out], [1, summary('0 to be fetched by the next run, 2', 2, 3)]);
  const half = await at.run(['quarantine', 'retry', '--store', 'replica.db', '--from', server.root]);
  assert.deepEqual(
    [half.code, half.err],
    [
      2,
      'plat: Querying the source requires --from, --interface and --token (or --token-file, or --token-url).\n',
    ],
  );
  assert.equal((await at.run(['replicate', ...options(server.root)])).code, 1, '1002 is still in quarantine');
  assert.deepEqual(keysOf(await at.exported('replica.db', 'Property')), [keyOf(1), keyOf(3), keyOf(4)]);
});

test('exit codes: a refused key 1, wrong usage 2; no token is ever printed', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(2, clock) }, { token: 'other' });
  const at = place(t);
  const [refused, scheme, soap] = await Promise.all([
    at.run(['replicate', ...options(server.root)]),
    at.run(['replicate', ...options('ftp://feed.example')]),
    at.run(['replicate', ...options(server.root), '--interface', 'soap']),
  ]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /401: Who are you\?/);
  assert.equal(server.seen.length, 1, 'asked once');
  assert.deepEqual([scheme.code, soap.code], [2, 2]);
  assert.match(scheme.err, /--from takes the http\(s\) address of a service, not ftp:\/\/feed\.example\./);
  for (const { err, out } of [refused, scheme, soap]) assert.equal(`${err}${out}`.includes('secret'), false);
});

test('a store that is an authority is not replicated into, and one source name stands for one address', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(2, clock) });
  const at = place(t);
  const own = await openSqliteStore({ path: at.path('own.db'), create: DEFAULT_SETTINGS });
  await own.close();
  const authority = await at.run(['replicate', ...options(server.root), '--store', 'own.db']);
  assert.equal(authority.code, 2);
  assert.match(
    authority.err,
    /own\.db is not a replica: it is the authority for its records\. Replicate into a separate store\./,
  );
  await at.done(['replicate', ...options(server.root)]);
  const elsewhere = await at.run(['replicate', ...options(`${server.origin}/another/odata/`)]);
  assert.equal(elsewhere.code, 2);
  assert.match(
    elsewhere.err,
    /feed was replicated from reso 127\.0\.0\.1:\d+\/odata\/, not from reso 127\.0\.0\.1:\d+\/another\/odata\/\. Give the new source another name \(--source\), or use --force to move the copy to the new address\./,
  );
});

test('a wrong address: the error names the root of the service if there is one, and the name of the source remains free', async (t) => {
  const clock = now();
  const server = await odataServer(t, clock, { Property: listings(2, clock) });
  const elsewhere = await odataServer(t, clock, { Property: listings(2, clock) });
  const at = place(t);
  // Requests that look for the root may be redirected to another host, which must not get the token.
  server.intercept = ({ path }) => {
    // A path below a resource is read as a key.
    if (path.startsWith('/odata/Property/')) return json({ error: { message: 'A key' } }, { status: 400 });
    return path.startsWith('/Reso/OData/')
      ? { status: 302, headers: { location: elsewhere.root } }
      : undefined;
  };
  const wrong = await Promise.all(
    ['', '/api', '/odata/v2', '/odata/Property'].map((path) =>
      at.run(['replicate', ...options(`${server.origin}${path}`)]),
    ),
  );
  for (const [index, { code, err }] of wrong.entries()) {
    assert.equal(code, 2, err);
    assert.match(
      err,
      /^plat: .* is not the root of a service \(40[04]\); --from http:\/\/127\.0\.0\.1:\d+\/odata\/ is one\.$/m,
    );
    assert.equal(err.includes('(400)'), index === 3, err);
  }
  const other = await at.run(['replicate', ...options(server.root), '--interface', 'native']);
  assert.equal(other.code, 2);
  assert.match(other.err, /--from \S+\/odata\/ is one of the reso interface \(--interface reso\)\.$/m);
  assert.equal(elsewhere.seen.length, 0);
  assert.deepEqual(readdirSync(at.path('.')), [], 'no store was created');

  server.intercept = () => json({ error: { message: 'Nothing' } }, { status: 404 });
  const nowhere = await at.run(['replicate', ...options(`${server.origin}/`)]);
  assert.equal(nowhere.code, 1);
  assert.match(
    nowhere.err,
    /^plat: 404: Nothing; there is no service of the reso interface at \S+\/: its root usually ends in \/Reso\/OData or \/odata, and none of \S+\/Reso\/OData\/, \S+\/odata\/, \S+\/OData\/, \S+\/reso\/odata\/ answers$/m,
  );

  server.intercept = () => undefined;
  await at.done(['replicate', ...options(server.root)]);
  assert.equal((await at.exported('replica.db', 'Property')).length, 2);
  // If a known source fails, the command does not look for another root.
  const known = server.seen.length;
  server.intercept = () => json({ error: { message: 'Gone' } }, { status: 404 });
  const gone = await at.run(['replicate', ...options(server.root)]);
  assert.match(gone.err, /^plat: 404: Gone$/m);
  assert.ok(server.seen.slice(known).every(({ path }) => path.startsWith('/odata/')));
});

test('a source of which no record was stored leaves its name to another source', async (t) => {
  const clock = now();
  const empty = await odataServer(t, clock, { Property: [] });
  const full = await odataServer(t, clock, { Property: listings(2, clock) });
  const at = place(t);
  await at.done(['replicate', ...options(empty.root)]);
  await at.done(['replicate', ...options(full.root)]);
  assert.equal((await at.exported('replica.db', 'Property')).length, 2);
  const back = await at.run(['replicate', ...options(empty.root)]);
  assert.equal(back.code, 2);
  assert.match(back.err, /feed was replicated from /);
});
