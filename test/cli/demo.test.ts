/** `plat demo` as a new user meets it, and the commands that work with it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { marketOutlines } from 'plat-demo';
import { KEY_KINDS, type KeyRecord } from '../../src/access/index.ts';
import { openSqliteStore } from '../../src/engines/sqlite/store.ts';
import { startBrowser, withoutChromium } from '../service/console/browser.ts';
import { objectOf } from '../support/world.ts';
import { type Place, place, type Running } from './run.ts';

const PORTS = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];
const isFull = process.env.PLAT_FULL === '1';
const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl here';

interface Demo extends Running {
  readonly text: string;
  /** The address of a surface, and its token. */
  readonly at: Readonly<Record<string, { readonly address: string; readonly token: string }>>;
  readonly curls: readonly string[];
}

async function startDemo(at: Place, ...more: readonly string[]): Promise<Demo> {
  const running = at.start(['demo', '--store', 'd.db', '--log-level', 'silent', ...PORTS, ...more]);
  const text = await running.until(/\$top=1'\n\n$/);
  const of = (name: string, pattern: string): string =>
    new RegExp(`^ *${name} +${pattern}`, 'm').exec(text)?.[1] ?? '';
  const surfaces = ['api', 'replication', 'floorplans', 'admin'].map((name) => {
    const address = of(name, '(http://127\\.0\\.0\\.1:\\d+)/');
    return [name, { address, token: of(name, '(plat_[\\w-]+)$') }] as const;
  });
  const curls = text.split('\n').filter((line) => line.startsWith('  curl '));
  return { ...running, text, at: Object.fromEntries(surfaces), curls };
}

const statusOf = async ({ address, token }: { address: string; token: string }, path: string) =>
  (await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

test('demo creates a market, prints addresses, tokens and curl lines that work, and renews its keys', async (t) => {
  const at = place(t);
  const first = await startDemo(at, '--listings', '30');
  const { api, replication, floorplans, admin } = first.at;
  assert.ok(api && replication && floorplans && admin, first.text);
  assert.equal(first.curls.length, 3);

  await t.test('each curl line works unchanged', { skip: noCurl }, () => {
    const [reso, native, plans] = first.curls.map((line) =>
      objectOf(execFileSync('sh', ['-c', line.replace('curl', 'curl -sS --fail')], { encoding: 'utf8' })),
    );
    assert.ok(Number(reso?.['@odata.count']) > 10 && Array.isArray(reso?.value) && reso.value.length === 2);
    assert.match(JSON.stringify(native?.D), /^\{"Success":true,"Results":\[.*"Photos":\[\{/);
    assert.ok(Array.isArray(plans?.value) && plans.value.length === 1);
    assert.equal(plans.value[0].MediaCategory, 'Floor Plan');
    const picture = execFileSync('curl', ['-sS', '--fail', plans.value[0].MediaURL], { encoding: 'utf8' });
    assert.match(picture, /^<svg /, 'its MediaURL opens');
  });

  await t.test('the console opens at the printed address, with the printed token', async () => {
    const [, page = ''] = /log in with the admin token:\n {2}(http:.*)\n/.exec(first.text) ?? [];
    assert.equal(page, `${admin.address}/console/`);
    assert.match(first.text, new RegExp(`^console +${page} `, 'm'));
    const entered = await fetch(`${admin.address}/session`, {
      method: 'POST',
      body: JSON.stringify({ token: admin.token }),
      headers: { origin: admin.address },
    });
    assert.equal(entered.status, 200);
  });

  const isLeftOut = isFull ? withoutChromium : 'with PLAT_FULL=1';
  await t.test('a new user reaches a floor plan in three clicks', { skip: isLeftOut }, async () => {
    const browser = await startBrowser();
    try {
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
      await page.goto(/^console +(\S+)/m.exec(first.text)?.[1] ?? '');
      // Below the visible part, a user would have to scroll to it.
      const see = async (name: string | RegExp, role: 'button' | 'link') => {
        const seen = page.getByRole(role, { name }).first();
        await seen.waitFor();
        const box = await seen.boundingBox();
        assert.ok(box !== null && box.y + box.height <= 800, `${name} is on the screen`);
        return seen;
      };
      await page.locator('input[name=token]:focus').waitFor();
      await page.keyboard.insertText(admin.token);
      await (await see('Log in', 'button')).click();
      await page.locator('tbody tr[aria-rowindex="2"] a').first().waitFor();
      await (await see('Floor plans', 'link')).click();
      await page.locator('.drawing-card img').first().waitFor();
      await (await see(/Floor Plan/, 'link')).click();
      await page.locator('.drawing-area img').waitFor();
      await page.getByRole('table').getByText('Kitchen').first().waitFor();
      // In the other direction: from a listing to its plan.
      await (await see('Explore', 'link')).click();
      await (await see(/ \w\w \d{5}$/, 'link')).click();
      const toPlan = page.getByRole('button', { name: /^See the (?:\d+ )?floor plan/ });
      await toPlan.or(page.getByRole('link', { name: 'All floor plans' })).waitFor();
    } finally {
      await browser.close();
    }
  });

  await t.test('each token opens its surface and no other', async () => {
    const open = '/Reso/OData/Property';
    assert.equal(await statusOf({ address: admin.address, token: '' }, '/ready'), 200);
    assert.deepEqual(
      await Promise.all([
        statusOf(api, open),
        statusOf(replication, open),
        statusOf(floorplans, '/Reso/Media'),
        statusOf(admin, '/status'),
        statusOf({ ...api, token: replication.token }, open),
        statusOf({ ...admin, token: api.token }, '/status'),
      ]),
      [200, 200, 200, 200, 403, 403],
    );
  });

  await t.test('the map of the console gets the outlines of the towns', async () => {
    const headers = { authorization: `Bearer ${admin.token}` };
    const answer = await fetch(`${admin.address}/outlines`, { headers });
    assert.deepEqual(await answer.json(), marketOutlines());
  });

  await t.test('plat floorplans fetches the records of a listing or a system, and the images', async () => {
    const from = ['floorplans', '--from', `${floorplans.address}/Reso`, '--token', floorplans.token];
    const out = await at.done(['export', '--store', 'd.db', '--resource', 'Media']);
    const plans = out
      .trimEnd()
      .split('\n')
      .map(objectOf)
      .filter(({ MediaCategory }) => MediaCategory === 'Floor Plan');
    const system = String(plans[0]?.OriginatingSystemResourceRecordSystemID);
    const listing = String(plans[0]?.OriginatingSystemResourceRecordKey);
    const keysOf = (text: string): unknown[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => objectOf(line).MediaKey)
        .toSorted();
    const ofSystem = plans.filter((each) => each.OriginatingSystemResourceRecordSystemID === system);
    const ofListing = plans.filter((each) => each.OriginatingSystemResourceRecordKey === listing);
    const keys = (each: typeof plans) => each.map(({ MediaKey }) => MediaKey).toSorted();
    assert.ok(ofSystem.length > ofListing.length && ofListing.length > 0);
    const [whole, one, refused] = await Promise.all([
      at.run([...from, '--system', system]),
      at.run([...from, '--system', system, '--listing', listing, '--out', 'plans']),
      at.run([
        'floorplans',
        '--from',
        `${floorplans.address}/Reso`,
        '--token',
        api.token,
        '--system',
        system,
      ]),
    ]);
    assert.deepEqual(keysOf(whole.out), keys(ofSystem));
    assert.equal(whole.err, `${ofSystem.length} floor plan records\n`);
    assert.deepEqual(keysOf(one.out), keys(ofListing));
    assert.equal(one.err, `${ofListing.length} floor plan records, ${ofListing.length} images in plans\n`);
    const files = readdirSync(at.path('plans'));
    assert.equal(files.length, ofListing.length);
    for (const file of files) assert.match(readFileSync(at.path(`plans/${file}`), 'utf8'), /^<svg /);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /^plat: 403: The floorplans interface is not available to a key of kind api/);
  });

  first.child.kill('SIGTERM');
  assert.equal((await first.ended).code, 0);

  const second = await startDemo(at, '--listings', '5', '--live', '--changes-per-minute', '1');
  assert.deepEqual(
    await Promise.all([
      statusOf({ address: second.at.api?.address ?? '', token: api.token }, '/v1/listings'),
      statusOf(second.at.api ?? api, '/v1/listings'),
    ]),
    [401, 200],
    'the tokens of the first start are revoked',
  );
  second.child.kill('SIGINT');
  assert.equal((await second.ended).code, 0);
  const keys = JSON.parse(await at.done(['key', 'list', '--store', 'd.db', '--json']));
  assert.deepEqual(
    keys.map(({ name, kind, revokedAt }: KeyRecord) => `${name} ${kind} ${revokedAt !== null}`).toSorted(),
    KEY_KINDS.flatMap((kind) => [false, true].map((revoked) => `demo ${kind} ${revoked}`)).toSorted(),
  );
  assert.equal((await at.exported('d.db', 'Property')).length, 30, 'an existing market is kept');
});

test('demo --live does not touch records that it did not create', async (t) => {
  const at = place(t);
  const own = at.file('own.ndjson', [{ ListingKey: '1', ListPrice: 5 }]);
  await at.done(['import', '--store', 'own.db', own]);
  const [refused, pointless] = await Promise.all([
    at.run(['demo', '--store', 'own.db', '--live', '--listings', '9', '--log-level', 'silent', ...PORTS]),
    at.run(['demo', '--store', 'own.db', '--changes-per-minute', '5', ...PORTS]),
  ]);
  assert.deepEqual([refused.code, pointless.code, refused.out, pointless.out], [2, 2, '', '']);
  assert.match(
    refused.err,
    /^plat: .*--live requires a market that "plat demo" created; .*own\.db has none\.$/m,
  );
  assert.match(refused.err, /^own\.db has 1 listings; --listings applies to a new market$/m);
  assert.match(pointless.err, /^plat: .*--changes-per-minute requires --live\.$/m);
  assert.deepEqual(await at.exported('own.db', 'Property').then((all) => all.length), 1);
});

test('--json: demo and serve write their addresses as one object, demo its tokens as well, and replicate its result', async (t) => {
  const at = place(t);
  const quiet = ['--json', '--log-level', 'silent', ...PORTS];
  const started = async (args: readonly string[]) => {
    const running = at.start([...args, ...quiet]);
    return { ...running, ...JSON.parse(await running.until(/\n$/)) };
  };
  const demo = await started(['demo', '--store', 'd.db', '--listings', '5']);
  const { tokens, examples, replication } = demo;
  assert.deepEqual(Object.keys(tokens), ['api', 'replication', 'floorplans', 'admin']);
  assert.equal(examples.length, 3);
  for (const [interfaceName, root] of Object.entries<string>(replication)) {
    const replica = ['--store', `${interfaceName}.db`, '--interface', interfaceName, '--from', root];
    const ran = await at.done(['replicate', '--json', ...replica, '--token', tokens.replication]);
    assert.equal(ran, '{"result":"done","quarantined":{},"withoutFiles":0}\n');
  }
  demo.child.kill('SIGTERM');
  assert.equal((await demo.ended).code, 0);
  const served = await started(['serve', '--store', 'reso.db']);
  assert.match(served.api.reso, /^http:\/\/127\.0\.0\.1:\d+\/Reso\/OData\/$/);
  assert.deepEqual(
    [served.api.native, served.floorplans.reso, served.console].map((url) => new URL(url).pathname),
    ['/v1/', '/Reso/', '/console/'],
  );
  const { status } = await fetch(`${served.admin.root}live`);
  assert.equal(status, 200);
  served.child.kill('SIGTERM');
  const { code, out } = await served.ended;
  assert.deepEqual([code, out.trimEnd().split('\n').length], [0, 1]);
});

const slow = process.env.PLAT_FULL === '1' ? false : 'makes a market of 3,000; npm run test:full';

test('a market whose creation was interrupted is completed at the next start', { skip: slow }, async (t) => {
  const at = place(t);
  const market = ['demo', '--store', 'd.db', '--log-level', 'silent', '--listings', '3000', ...PORTS];
  let before = 0;
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const broken = at.start(market);
    while (broken.child.exitCode === null && (await listingsIn(at)) === before);
    broken.child.kill(signal);
    const { code, err } = await broken.ended;
    if (signal === 'SIGINT') assert.equal(code, 0);
    assert.equal(/^plat: interrupted; the next start completes the market$/m.test(err), signal === 'SIGINT');
    before = await listingsIn(at);
    assert.ok(before > 0 && before < 3000, `${before} listings after ${signal}`);
  }
  const again = await startDemo(at);
  again.child.kill('SIGTERM');
  await again.ended;
  assert.equal(await listingsIn(at), 3000);
});

async function listingsIn(at: Place): Promise<number> {
  if (!existsSync(at.path('d.db'))) return 0;
  const store = await openSqliteStore({ path: at.path('d.db') }).catch(() => undefined); // it is being made
  try {
    const { resources } = (await store?.status()) ?? { resources: [] };
    return resources.find(({ resource }) => resource === 'Property')?.rows ?? 0;
  } finally {
    await store?.close();
  }
}
