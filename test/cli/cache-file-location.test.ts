/** Where a service stores blocks of pages in a file. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statfsSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { defaultMegabytes, keptPages } from '../../src/cli/cache-file-location.ts';
import { temporaryFile } from '../support/temporary.ts';

const noProc = existsSync('/proc') ? false : 'this system has no /proc';

test('the cache file is next to an SQLite store, or in the folder of the configuration', async () => {
  const store = temporaryFile();
  const usual = await keptPages(`sqlite:${store}`, {});
  assert.equal(usual.megabytes, 64);
  assert.equal(usual.file?.path, `${store}-pages`);
  assert.equal(usual.file?.megabytes, 1024);
  assert.deepEqual(await keptPages(store, { keptPages: { megabytes: 5, fileMegabytes: 0 } }), {
    megabytes: 5,
  });
  const server = 'postgres://plat:secret@db.example/market';
  const config = { keptPages: { folder: '/var/cache/plat', fileMegabytes: 7 } };
  const [first, second, other] = await Promise.all(
    [server, server.replace('secret', 'renewed'), `${server}2`].map((text) => keptPages(text, config)),
  );
  assert.match(first?.file?.path ?? '', /^\/var\/cache\/plat\/[0-9a-f]{16}-pages$/);
  assert.equal(first?.file?.megabytes, 7);
  assert.equal(second?.file?.path, first?.file?.path);
  assert.notEqual(other?.file?.path, first?.file?.path);
  const enumerations = await keptPages(store, { lookups: 'enumerations' });
  assert.notEqual(enumerations.file?.identity, usual.file?.identity);
});

test('the file may by default be as large as a large store, up to a quarter of the free space of its disk', async () => {
  const MEGABYTE = 1024 * 1024;
  const size = (store: number, free: number) => defaultMegabytes(store * MEGABYTE, free * MEGABYTE);
  assert.equal(size(0, 0), 1024);
  assert.equal(size(900, 100_000), 1024);
  assert.equal(size(3000.5, 100_000), 3000);
  assert.equal(size(3000, 8000), 2000);
  assert.equal(size(3000, 2000), 1024);
  assert.equal(size(90_000, 100_000), 4096);
  const store = temporaryFile();
  writeFileSync(store, '');
  truncateSync(store, 1500 * MEGABYTE);
  const { bavail, bsize } = statfsSync(dirname(store));
  const isFree = bavail * bsize > 7000 * MEGABYTE;
  const usual = await keptPages(store, {});
  if (isFree) assert.equal(usual.file?.megabytes, 1500);
  else assert.ok((usual.file?.megabytes ?? 0) >= 1024);
  const { file } = await keptPages(store, { keptPages: { fileMegabytes: 7 } });
  assert.equal(file?.megabytes, 7);
});

test('files of stores that were not served for a month are removed from the folder, and no other files', async () => {
  const folder = join(temporaryFile(''), 'plat');
  mkdirSync(folder, { recursive: true });
  const names = ['a', 'a-old', 'a-journal', 'a-text-0123456789ab', 'b', 'readme', 'c-pages.txt'].map((name) =>
    name.replace(/^[a-z](?=$|-[ojt])/, (letter) => `${letter.charCodeAt(0).toString(16).repeat(8)}-pages`),
  );
  const DAY = 24 * 60 * 60_000;
  const written = Date.parse('2026-06-01T00:00:00Z');
  for (const [index, name] of names.entries()) {
    const at = new Date(name === names[4] ? written + index * DAY : written);
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), at, at);
  }
  const left = async (days: number) => {
    const server = 'postgres://plat@db.example/market';
    await keptPages(server, { keptPages: { folder } }, '', written + days * DAY);
    return readdirSync(folder).toSorted();
  };
  assert.deepEqual(await left(30), names.toSorted());
  assert.deepEqual(await left(31), names.slice(4).toSorted());
  assert.deepEqual(await left(60), names.slice(5).toSorted());
});

test('one that cannot be removed does not keep the others', async () => {
  const folder = join(temporaryFile(''), 'plat');
  const names = ['a', 'b', 'c'].map((letter) => `${letter.repeat(16)}-pages`);
  const [stuck = '', ...others] = names.map((name) => join(folder, name));
  // What is removed as a file is a folder.
  mkdirSync(stuck, { recursive: true });
  for (const path of others) writeFileSync(path, '');
  const written = new Date('2026-06-01T00:00:00Z');
  for (const path of [stuck, ...others]) utimesSync(path, written, written);
  const config = { keptPages: { folder } };
  await keptPages('postgres://plat@db.example/market', config, '', Date.parse('2026-09-01T00:00:00Z'));
  assert.deepEqual(readdirSync(folder), [basename(stuck)]);
});

test('a cache folder in a file system that takes none is not used', { skip: noProc }, async () => {
  const server = 'postgres://plat@db.example/market';
  assert.deepEqual(await keptPages(server, {}, '/proc/plat/caches'), { megabytes: 64 });
});

test("the cache file of a store on a server is in plat's cache folder, unless others can write to it", async () => {
  const caches = temporaryFile('');
  const server = 'postgres://plat:secret@db.example/market';
  const { file, megabytes } = await keptPages(server, {}, caches);
  assert.equal(megabytes, 64);
  assert.equal(dirname(file?.path ?? ''), join(caches, 'plat'));
  assert.match(basename(file?.path ?? ''), /^[0-9a-f]{16}-pages$/);
  assert.equal(file?.megabytes, 1024);
  assert.equal(statSync(join(caches, 'plat')).mode & 0o777, 0o700);
  assert.deepEqual(await keptPages(server, { keptPages: { fileMegabytes: 0 } }, caches), { megabytes: 64 });
  chmodSync(join(caches, 'plat'), 0o770);
  assert.deepEqual(await keptPages(server, {}, caches), { megabytes: 64 });
  writeFileSync(join(caches, 'file'), '');
  assert.deepEqual(await keptPages(server, {}, join(caches, 'file')), { megabytes: 64 });
  const { HOME } = process.env;
  try {
    process.env.HOME = '';
    assert.deepEqual(await keptPages(server, {}, ''), { megabytes: 64 }, 'no home folder');
  } finally {
    if (HOME === undefined) delete process.env.HOME;
    else process.env.HOME = HOME;
  }
});
