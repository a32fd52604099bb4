/** Files that the service serves itself: their URLs are built and signed when they are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileSignature } from '../../../src/store/files/file-signature.ts';
import { listing, photo } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld, pick, readPage, TIME } from '../../support/world.ts';

export function fileContract(engine: Engine): void {
  test('a relative address becomes an absolute URL signed for the role; an absolute one stays', async (t) => {
    const world = await makeWorld(engine, t);
    const urls = {
      M1: 'photos/a b/ü.jpg',
      M2: 'https://images.example/x.jpg',
      M3: '//images.example/x.jpg',
      M4: null,
      M5: 'data:image/svg+xml,x',
      M6: "it's.jpg",
    };
    const media = Object.entries(urls).map(([key, MediaURL]) => photo(key, { MediaURL }));
    await world.write('Property', listing('A', { Media: media }));
    const { query, files, shape } = await world.request('Media', '$select=MediaKey,MediaURL');
    const signing = { base: 'https://other.example', role: 'vow', expires: 1_900_000_000 };
    const signed = (path: string) => fileSignature(world.store.secret, 'vow', signing.expires, path);
    const expected = {
      ...urls,
      M1: `https://other.example/media/${signed('photos/a b/ü.jpg')}/photos/a%20b/%C3%BC.jpg`,
      M6: `https://other.example/media/${signed("it's.jpg")}/it's.jpg`,
    };
    const request = { query, position: { kind: 'start' }, limit: 10, shape, files: signing } as const;
    const selected = await readPage(await world.store.page(request, TIME));
    assert.deepEqual(
      selected.records,
      Object.entries(expected).map(([MediaKey, MediaURL]) => ({ MediaKey, MediaURL })),
    );
    const whole = await world.request('Media');
    const full = await readPage(await world.store.page({ ...whole, files: signing }, TIME));
    assert.deepEqual(
      full.records.map((record) => pick(record, 'MediaKey', 'MediaURL')),
      selected.records,
    );
    const expanded = await world.request(
      'Property',
      '$select=ListingKey&$expand=Media($select=MediaKey,MediaURL),Rooms',
    );
    const nested = await readPage(await world.store.page({ ...expanded, files: signing }, TIME));
    assert.deepEqual(nested.records, [{ ListingKey: 'A', Media: selected.records, Rooms: [] }]);
    assert.notEqual(files.base, signing.base);
    assert.match(signed('x'), /^vow\.1900000000\.[0-9a-f]{32}$/);
  });

  test('a filter compares the address as it is stored', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Media: [photo('M1', { MediaURL: 'a.jpg' }), photo('M2')] }));
    assert.deepEqual(await world.keys('Media', "$filter=MediaURL eq 'a.jpg'"), ['M1']);
  });

  test('a role may get a file if it sees one of its media', async (t) => {
    const world = await makeWorld(engine, t);
    const shown = (path: string, role: string) => world.store.showsFile(path, role);
    const media = [
      photo('M1', { MediaURL: 'a.jpg' }),
      photo('M2', { MediaURL: 'b.jpg', Permission: ['Private'] }),
    ];
    await world.write('Property', listing('A', { Media: media }));
    assert.deepEqual(
      await Promise.all([
        shown('a.jpg', 'idx'),
        shown('b.jpg', 'idx'),
        shown('b.jpg', 'private'),
        shown('c.jpg', 'private'),
      ]),
      [true, false, true, false],
    );
    assert.equal(await shown('a.jpg', 'nobody'), false);
    await world.write('Property', listing('B', { Media: [photo('M3', { MediaURL: 'b.jpg' })] }));
    assert.equal(await shown('b.jpg', 'idx'), true);
    await world.write('Property', listing('B', { StandardStatus: 'Withdrawn' }));
    assert.equal(await shown('b.jpg', 'idx'), false);
    await world.store.remove('Property', ['A', 'B']);
    assert.equal(await shown('a.jpg', 'private'), false);
  });

  test('each store has its own secret, which is the same for every process', async (t) => {
    const world = await makeWorld(engine, t);
    assert.equal((await world.again()).secret, world.store.secret);
    assert.match(world.store.secret, /^[\w-]{43}$/);
  });
}
