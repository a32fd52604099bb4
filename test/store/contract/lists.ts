/** I5: pages of a list that was found earlier. Its records are read now: deleted and hidden ones are omitted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, photo } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import { makeWorld, readPage, TIME, type World } from '../../support/world.ts';

async function ids(world: World, options = '', viewer: Viewer = PRIVATE): Promise<Uint32Array> {
  const { query } = await world.request('Property', options, { viewer });
  return world.store.ids(query, TIME);
}

async function listPage(world: World, list: Uint32Array, limit: number, options = '', viewer = PRIVATE) {
  const { query, shape, files } = await world.request('Property', options, { viewer });
  const page = await world.store.listPage({ query, ids: list, limit, shape, files }, TIME);
  const { records, rows, more, last, consumed } = await readPage(page);
  assert.equal(rows, records.length);
  return { keys: records.map(({ ListingKey }) => ListingKey).join(''), more, last, consumed };
}

const letters = (text: string) => text.split('').map((key, index) => listing(key, { ListPrice: index % 3 }));

export function listContract(engine: Engine): void {
  test('ids come in the order of the query, and only those that the role sees', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...letters('FEDCBA'), listing('G', { StandardStatus: 'Withdrawn' }));
    const all = await ids(world);
    assert.equal((await listPage(world, all, 10)).keys, 'ABCDEFG');
    assert.equal((await listPage(world, await ids(world, '', IDX), 10)).keys, 'ABCDEF');
    const ordered = await ids(world, '$filter=ListPrice ne 1&$orderby=ListPrice desc');
    assert.equal((await listPage(world, ordered, 10)).keys, 'ADCFG');
    assert.equal((await ids(world, '$filter=ListPrice gt 9')).length, 0);
  });

  test('a page reports how much of the list follows', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...letters('ABCDEF'));
    const list = await ids(world);
    const first = await listPage(world, list, 4);
    assert.deepEqual(first, { keys: 'ABCD', more: true, last: { key: 'D', values: [] }, consumed: 4 });
    const second = await listPage(world, list.subarray(4), 4);
    assert.deepEqual(second, { keys: 'EF', more: false, last: { key: 'F', values: [] }, consumed: 2 });
    const exact = await listPage(world, list.subarray(2), 4);
    assert.deepEqual([exact.keys, exact.more, exact.consumed], ['CDEF', false, 4]);
    const none = await listPage(world, new Uint32Array(0), 4);
    assert.deepEqual(none, { keys: '', more: false, last: undefined, consumed: undefined });
  });

  test('records that were deleted or hidden since are skipped, those that no longer match stay', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...letters('ABCDEFGH'));
    const list = await ids(world, '$filter=ListPrice ge 0', IDX);
    await world.store.remove('Property', ['A', 'C', 'D']);
    await world.write(
      'Property',
      listing('E', { StandardStatus: 'Withdrawn' }),
      listing('F', { ListPrice: null }),
    );
    const page = await listPage(world, list, 2, '', IDX);
    assert.deepEqual(page, { keys: 'BF', more: true, last: { key: 'F', values: [] }, consumed: 6 });
    const rest = await listPage(world, list.subarray(6), 5, '', IDX);
    assert.deepEqual([rest.keys, rest.more, rest.consumed], ['GH', false, 2]);
    assert.equal((await listPage(world, list, 9)).keys, 'BEFGH');
    // A record that is written again after its deletion has another id.
    await world.write('Property', listing('C'));
    assert.equal((await listPage(world, list, 9)).keys, 'BEFGH');
  });

  test('hundreds of deleted records in a row do not end a page early', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = Array.from({ length: 600 }, (_, index) => `K${String(index).padStart(3, '0')}`);
    await world.write('Property', ...keys.map((key) => listing(key)));
    const list = await ids(world);
    await world.store.remove('Property', keys.slice(1, 598));
    const page = await listPage(world, list, 2);
    assert.deepEqual(page, {
      keys: 'K000K598',
      more: true,
      last: { key: 'K598', values: [] },
      consumed: 599,
    });
    await world.store.remove('Property', ['K598', 'K599']);
    const ending = await listPage(world, list, 2);
    assert.deepEqual([ending.keys, ending.more, ending.consumed], ['K000', false, 1]);
  });

  test('positionAfter() works for a key whose record exists, was deleted or never existed', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = ['B', 'D', 'F', 'H', 'é', '\uffee', '😀'];
    await world.write('Property', ...keys.map((key) => listing(key)));
    const list = await ids(world);
    const behind = (key: string) => world.store.positionAfter('Property', list, key);
    for (const [index, key] of keys.entries()) assert.equal(await behind(key), index + 1, key);
    assert.equal(await behind('A'), 0);
    assert.equal(await behind('E'), 2);
    assert.equal(await behind('zzz'), 4);
    assert.equal(await behind('😁'), 7);
    await world.store.remove('Property', ['B', 'D', 'F']);
    // The rest after the key is the same, however many deleted records are counted.
    for (const key of ['A', 'B', 'D', 'E', 'F', 'G']) {
      const rest = list.subarray(await behind(key));
      assert.equal((await listPage(world, rest, 9)).keys, 'Hé\uffee😀', key);
    }
    assert.equal(await behind('H'), 4);
    await world.store.remove('Property', keys.slice(3));
    assert.equal((await listPage(world, list.subarray(await behind('F')), 9)).keys, '');
  });

  test('a list with an order returns the values of its terms for the last row of a page', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...letters('ABCDEF'));
    const options = '$orderby=ListPrice desc,City';
    const list = await ids(world, options);
    const page = await listPage(world, list, 3, options);
    assert.deepEqual(page, { keys: 'CFB', more: true, last: { key: 'B', values: [1, null] }, consumed: 3 });
  });

  test('rows of a list, and rows after one of them, can be counted', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...letters('ABCDEF'));
    const { query } = await world.request('Property', '$orderby=ListPrice');
    const list = await ids(world, '$filter=ListPrice ne 2');
    assert.equal(await world.store.count({ ...query, among: list }, TIME), 4);
    const after = { key: 'B', values: [1] };
    assert.equal(await world.store.count({ ...query, after }, TIME), 3);
    assert.equal(await world.store.count({ ...query, among: list, after }, TIME), 1);
    assert.equal(await world.store.count({ ...query, among: new Uint32Array(0) }, TIME), 0);
  });

  test('a list of media is read like any other', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Media: [photo('M1'), photo('M2'), photo('M3')] }));
    const { query, shape, files } = await world.request('Media', '$select=MediaKey&$orderby=MediaKey desc');
    const found = await world.store.ids(query, TIME);
    await world.store.remove('Media', ['M2']);
    const page = await readPage(
      await world.store.listPage({ query, ids: found, limit: 1, shape, files }, TIME),
    );
    assert.deepEqual([page.records, page.consumed, page.more], [[{ MediaKey: 'M3' }], 1, true]);
  });
}
