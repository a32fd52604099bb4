/** Flags in the environment, and configuration files as editors write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import { place } from './run.ts';
import { ANY_PORT, addressesOf } from './serving.ts';

test('a flag in the environment is true or false, and anything else is wrong usage', async (t) => {
  const at = place(t);
  const create = ['key', 'create', '--store', 'm.db', '--name', 'X'];
  const created = async (text: string) => at.run(create, { env: { PLAT_JSON: text } });
  for (const yes of ['true', '1', 'yes', 'ON']) assert.match((await created(yes)).out, /^\{"id":/, yes);
  for (const no of ['false', '0', 'no', 'Off', '']) assert.match((await created(no)).out, /^plat_\S+\n$/, no);
  const maybe = await created('maybe');
  assert.deepEqual(maybe, {
    code: 2,
    out: '',
    err: 'plat: PLAT_JSON is "maybe", but takes true or false.\n',
  });
});

test('a negative flag such as PLAT_NO_CREATE works the same, and commands without it ignore it', async (t) => {
  const at = place(t);
  const created = (text: string) =>
    at.run(['key', 'create', '--store', 'none.db', '--name', 'X'], { env: { PLAT_NO_CREATE: text } });
  const imported = (text: string) =>
    at.run(['import', '--store', 'none.db', at.file('one.ndjson', [{ ListingKey: '1' }])], {
      env: { PLAT_NO_CREATE: text },
    });
  assert.equal((await imported('true')).code, 1);
  assert.equal((await imported('false')).code, 0);
  assert.equal((await created('whatever')).code, 0, 'it has no such flag');
});

test('a byte order mark at the beginning of the configuration is ignored', async (t) => {
  const at = place(t);
  at.file('plat.config.json', `\uFEFF${JSON.stringify({ name: 'from the file' })}`);
  const made = JSON.parse(await at.done(['key', 'create', '--store', 'm.db', '--json']));
  assert.equal(made.name, 'from the file');
});

test('an option that can be repeated has its values in the variable and in the configuration as well', async (t) => {
  const at = place(t);
  const systemsOf = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const create = ['key', 'create', '--store', 'm.db', '--name', 'X', '--json', ...args];
    const { code, out, err } = await at.run(create, { env });
    assert.equal(code, 0, err);
    return JSON.parse(out).systems;
  };
  assert.deepEqual(await systemsOf({ PLAT_SYSTEM: 'A, B' }), ['A', 'B']);
  assert.deepEqual(await systemsOf({ PLAT_SYSTEM: 'A' }, '--system', 'C', '--system', 'D,E'), ['C', 'D,E']);
  for (const [system, systems] of [
    ['A', ['A']],
    ['A,B', ['A,B']],
    [
      ['A', 'B'],
      ['A', 'B'],
    ],
  ] as const) {
    at.file('plat.config.json', JSON.stringify({ system }));
    assert.deepEqual(await systemsOf({}), systems);
    const hook = ['webhook', 'create', '--store', 'm.db', '--url', 'https://a.example/', '--json'];
    assert.deepEqual(JSON.parse(await at.done(hook)).systems, systems);
  }
  const plans = await at.run(['floorplans', '--from', 'http://127.0.0.1:9/Reso', '--token', 'plat_x']);
  assert.deepEqual(
    [plans.code, plans.err],
    [
      2,
      'plat: "system" of plat.config.json is a list; plat floorplans reads one originating system, as of --system.\n',
    ],
  );
});

test('PLAT_FORCE=0 does not force anything', async (t) => {
  const at = place(t);
  const replica = await openSqliteStore({
    path: at.path('r.db'),
    create: { ...DEFAULT_SETTINGS, owner: 'replica' },
  });
  await replica.close();
  const removed = (text: string) =>
    at.run(['delete', '--store', 'r.db', '--resource', 'Property', 'A'], { env: { PLAT_FORCE: text } });
  const refused = await removed('0');
  assert.equal(refused.code, 2);
  assert.match(refused.err, /^plat: This store is a replica; its records are deleted at their source\./m);
  assert.deepEqual([(await removed('1')).code, (await removed('sure')).code], [1, 2]);
});

const whole = process.env.PLAT_FULL === '1' ? false : 'starts services; npm run test:full';

test('a key that occurs twice in a configuration or a map is a wrong use, since only the last would count', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  at.file('own.json', '{"limits": {"api": {"requests": 9, "seconds": 9, "requests": 8}}}');
  at.file('map.json', '{"MLS": "ListingKey", "MLS": "City"}');
  const run = ['import', '--store', 'm.db', 'a.ndjson'];
  for (const [option, file, key] of [
    ['--config', 'own.json', 'requests'],
    ['--map', 'map.json', 'MLS'],
  ] as const) {
    const { code, err } = await at.run([...run, option, file]);
    assert.equal(code, 2);
    assert.match(
      err,
      new RegExp(`^plat: ${file} is not valid JSON: the member ${key} occurs twice in an object`),
    );
  }
});

test('a service trusts no proxy unless it is configured to', { skip: whole }, async (t) => {
  const at = place(t);
  const token = (await at.done(['key', 'create', '--store', 'm.db', '--name', 'n', '--kind', 'api'])).trim();
  for (const [text, base] of [
    ['false', /^http:\/\/127\.0\.0\.1:\d+\//],
    ['true', /^https:\/\/elsewhere\.example\//],
  ] as const) {
    const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT], { env: { PLAT_TRUST_PROXY: text } });
    const { api } = await addressesOf(service);
    const headers = { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'https' };
    const answer = await fetch(`${api}/Reso/OData/`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const context: unknown = Object(await answer.json())['@odata.context'];
    assert.match(String(context), base);
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  }
});
