/** Files of media beside a replica: `--media files`. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FileSource } from '../../../src/service/options.ts';
import { listing, photo } from '../../support/builders.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { bytes, mediaReplica, sha256, url } from './media-replica.ts';

const HOUR = 3600 * SECOND;

test('a file is stored once under the hash of its content, and fetched once, without the token', async (t) => {
  const { folder, host, feed, run, rows, files, fileOf, replica } = await mediaReplica(t);
  host.files.set(url('a'), 'one picture').set(url('b'), 'one picture').set(url('c'), 'another');
  await feed.write(
    'Property',
    listing('1', { Media: [photo('a'), photo('b')] }),
    listing('2', { Media: [photo('c')] }),
  );
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(files(), [fileOf('one picture'), fileOf('another')].toSorted());
  assert.equal(readFileSync(join(folder, fileOf('another')), 'utf8'), 'another');
  assert.deepEqual(rows(), [
    { media_key: 'a', sha256: sha256('one picture'), failures: 0, reason: null },
    { media_key: 'b', sha256: sha256('one picture'), failures: 0, reason: null },
    { media_key: 'c', sha256: sha256('another'), failures: 0, reason: null },
  ]);
  assert.deepEqual(
    host.asked.toSorted((x, y) => (x.url < y.url ? -1 : 1)),
    ['a', 'b', 'c'].map((name) => ({ url: url(name), token: undefined })),
  );
  const progress = replica.reported('page').filter(({ step }) => step === 'media');
  assert.deepEqual(
    [progress.at(0), progress.at(-1)?.done],
    [{ resource: 'Media', step: 'media', rows: 0, done: 0, total: 2 }, 2],
    'the number of listings is shown before the first file has arrived',
  );
  await run();
  assert.deepEqual(host.asked, [], 'nothing is fetched twice');
  assert.deepEqual(readdirSync(join(folder, 'partial')), []);
});

test('INCIDENT files that all arrived while finished listings were noted ended no wait, and the run hung', async (t) => {
  const { host, feed, run, rows } = await mediaReplica(t);
  const keys = Array.from({ length: 260 }, (_, at) => `p${String(at).padStart(3, '0')}`);
  for (const key of keys) host.files.set(url(key), `file ${key}`);
  await feed.write('Property', ...keys.map((key) => listing(`of ${key}`, { Media: [photo(key)] })));
  feed.clock.advance(HOUR);
  assert.equal(await run(), 'done');
  assert.equal(rows().filter(({ sha256: content }) => content !== null).length, keys.length);
});

test('files are deleted with their photo and their listing, unless another record has the same file', async (t) => {
  const { host, feed, run, rows, files, fileOf } = await mediaReplica(t);
  host.files.set(url('a'), 'shared').set(url('b'), 'shared').set(url('c'), 'own').set(url('d'), 'kept');
  await feed.write(
    'Property',
    listing('1', { Media: [photo('a')] }),
    listing('2', { Media: [photo('b'), photo('c')] }),
    ...['3', '4', '5', '6', '7', '8'].map((key) => listing(key)),
    listing('9', { Media: [photo('d')] }),
  );
  feed.clock.advance(HOUR);
  await run();
  await feed.store.remove('Property', ['1']);
  await feed.write('Property', listing('2', { Media: [photo('b')] }));
  feed.clock.advance(DAY);
  assert.equal(await run(), 'done');
  assert.deepEqual(
    rows().map(({ media_key }) => media_key),
    ['b', 'd'],
  );
  assert.deepEqual(files(), [fileOf('shared'), fileOf('kept')].toSorted());
});

test('a changed photo is fetched again, and its earlier file is deleted', async (t) => {
  const { host, feed, run, files, fileOf } = await mediaReplica(t);
  host.files.set(url('a'), 'first');
  await feed.write('Property', listing('1', { Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  await run();
  host.files.set('https://images.example/a2.jpg', 'second');
  await feed.write(
    'Property',
    listing('1', { Media: [photo('a', { MediaURL: 'https://images.example/a2.jpg' })] }),
  );
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(files(), [fileOf('second')]);
});

test('INCIDENT one dead media host blocked the queue: it is no longer asked in this round, and asked again later', async (t) => {
  const { host, feed, replica, run, rows } = await mediaReplica(t);
  const dead = Array.from({ length: 30 }, (_, at) =>
    photo(`x${String(at).padStart(2, '0')}`, { MediaURL: `https://dead.example/${at}.jpg` }),
  );
  for (const { MediaURL } of dead) host.files.set(String(MediaURL), new Error('connect ECONNREFUSED'));
  host.files.set(url('a'), 'alive');
  await feed.write('Property', listing('1', { Media: dead }), listing('2', { Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  assert.equal(await run(), 'done');
  const toDead = host.asked.filter(({ url: asked }) => asked.startsWith('https://dead.example/')).length;
  assert.ok(toDead >= 5 && toDead <= 8, `${toDead} requests, four at a time, until five have failed`);
  assert.deepEqual(rows()[0], { media_key: 'a', sha256: sha256('alive'), failures: 0, reason: null });
  assert.deepEqual(rows()[1]?.reason, 'connect ECONNREFUSED');
  assert.equal(rows().at(-1)?.reason, 'dead.example failed 5 times');
  assert.equal(replica.reported('media').filter(({ state }) => state === 'failed').length, 30);

  await run();
  assert.deepEqual(host.asked, [], 'the host is not asked again within a quarter of an hour');
  for (const { MediaURL } of dead) host.files.set(String(MediaURL), `file of ${String(MediaURL)}`);
  feed.clock.advance(HOUR);
  await run();
  assert.equal(host.asked.length, 30);
  assert.ok(rows().every(({ sha256: content, failures }) => content !== null && failures === 0));
});

test('after its URL has expired, a file is fetched under a new one, for which its listing is requested', async (t) => {
  const picture: FileSource = {
    open: async (path) =>
      path === 'pictures/a.jpg' ? { body: Buffer.from('a picture'), type: 'image/jpeg' } : undefined,
  };
  const { feed, replica, run, rows } = await mediaReplica(t, { files: [picture] });
  await feed.write('Property', listing('1', { Media: [photo('a', { MediaURL: 'pictures/a.jpg' })] }));
  feed.clock.advance(HOUR);
  await replica.replicate();
  // The signature lasts a day, and the listing does not change after it.
  feed.clock.advance(3 * DAY);
  replica.requests.length = 0;
  await run();
  assert.deepEqual(rows(), [{ media_key: 'a', sha256: sha256('a picture'), failures: 0, reason: null }]);
  const media = replica.requests.filter((request) => request.includes('/media/'));
  assert.equal(media.length, 2, 'with the old signature, and with the new one');
  assert.notEqual(media[0], media[1]);
  const afterwards = replica.requests.slice(replica.requests.indexOf(media[0] ?? ''));
  assert.equal(afterwards.filter((request) => request.includes("ListingKey in ('1')")).length, 1);
});

test('a file that is missing from the folder is fetched again when its listing is checked', async (t) => {
  const { folder, host, feed, run, files, fileOf } = await mediaReplica(t);
  host.files.set(url('a'), 'picture');
  await feed.write('Property', listing('1', { Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  await run();
  rmSync(join(folder, fileOf('picture')));
  await feed.write('Property', listing('1', { ListPrice: 2, Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(files(), [fileOf('picture')]);
});

test('the first run with --media files fetches the files of all stored listings', async (t) => {
  const { folder, host, feed, replica, run, files } = await mediaReplica(t);
  host.files.set(url('a'), 'picture');
  await feed.write('Property', listing('1', { Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  await replica.replicate();
  assert.equal(existsSync(join(folder, 'index.db')), false);
  await run();
  assert.equal(files().length, 1);
});

test('a page is not the file of a photo, and is requested again; it is that of a tour', async (t) => {
  const { host, feed, run, rows } = await mediaReplica(t);
  const page = () => ({
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: bytes('Log in'),
  });
  host.files.set(url('a'), page).set(url('b'), page);
  await feed.write(
    'Property',
    listing('1', { Media: [photo('a'), photo('b', { MediaCategory: 'Unbranded Virtual Tour' })] }),
  );
  feed.clock.advance(HOUR);
  await run();
  const tour = { media_key: 'b', sha256: sha256('Log in'), failures: 0, reason: null };
  assert.deepEqual(rows(), [
    {
      media_key: 'a',
      sha256: null,
      failures: 1,
      reason: 'the response is text/html; charset=utf-8 instead of an image',
    },
    tour,
  ]);
  host.files.set(url('a'), 'a picture');
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(rows(), [
    { media_key: 'a', sha256: sha256('a picture'), failures: 0, reason: null },
    tour,
  ]);
});
