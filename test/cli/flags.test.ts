/** Flags in the environment, and files as editors write them: what a person means by them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place } from './run.ts';

test('a flag in the environment is on or off as it says, and anything else is wrong use', async (t) => {
  const at = place(t);
  const create = ['key', 'create', '--store', 'm.db', '--name', 'X'];
  const told = async (text: string) => at.run(create, { env: { PLAT_JSON: text } });
  for (const yes of ['true', '1', 'yes', 'ON']) assert.match((await told(yes)).out, /^\{"id":/, yes);
  for (const no of ['false', '0', 'no', 'Off', '']) assert.match((await told(no)).out, /^plat_\S+\n$/, no);
  const maybe = await told('maybe');
  assert.deepEqual(maybe, {
    code: 2,
    out: '',
    err: 'plat: PLAT_JSON is "maybe", but takes true or false.\n',
  });
});

test('so is one that says no by itself; a command without it does not look', async (t) => {
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

test('a byte order mark at the beginning of the configuration is nothing', async (t) => {
  const at = place(t);
  at.file('plat.config.json', `\uFEFF${JSON.stringify({ name: 'from the file' })}`);
  const made = JSON.parse(await at.done(['key', 'create', '--store', 'm.db', '--json']));
  assert.equal(made.name, 'from the file');
});
