/** The addresses `postgres://…` of stores, and the parameters that plat does not accept in them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, test } from 'node:test';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { startServer } from '../../support/postgres-server.ts';
import { operations } from '../../support/world.ts';

test('an address names its schema, its connections, its processors, and settings for the server', () => {
  const address = parsePostgresAddress(
    'postgres://plat:secret@db.example:6432/market?schema=east&connections=4&processors=6&options=-c%20work_mem%3D8MB&sslmode=require',
  );
  assert.deepEqual(address, {
    connectionString: 'postgres://plat:secret@db.example:6432/market?sslmode=require',
    options: '-c work_mem=8MB',
    schema: 'east',
    connections: 4,
    processors: 6,
    name: 'postgres://plat@db.example:6432/market?schema=east',
  });
});

test('by default, the server counts as having as many processors as this machine', () => {
  assert.equal(parsePostgresAddress('postgres://db.example/market').processors, availableParallelism());
  for (const wrong of ['0', '1.5', 'x', '1025']) {
    assert.throws(() => parsePostgresAddress(`postgres://db.example/market?processors=${wrong}`), {
      code: 'usage',
      message: 'The processors of the store are a number from 1 to 1024.',
    });
  }
});

for (const text of [
  'postgres://plat:a/b@db.example/market',
  'postgres://one,two/market',
  'postgres://db:x/market',
]) {
  test(`${text} is rejected with an explanation`, () => {
    assert.throws(
      () => parsePostgresAddress(text),
      (error) => error instanceof PlatError && error.code === 'usage' && /takes one host/.test(error.message),
    );
  });
}

test('settings in an address are added to those of plat, and the store is in its schema', async () => {
  const server = await startServer();
  const text = server.address('postgres');
  const store = await openStore(`${text}${text.includes('?') ? '&' : '?'}options=-c%20work_mem%3D8MB`, {
    create: 'authority',
  });
  after(() => store.close());
  const clock = { text: () => new Date().toISOString() };
  await operations(store, clock).write('Property', listing('A'));
  const plain = await openStore(text);
  after(() => plain.close());
  assert.equal(plain.secret, store.secret);
  assert.deepEqual(await operations(plain, clock).keys('Property'), ['A']);
});
