/** Children whose parent is not stored: they are stored, invisible, and adopted when their parent is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, photo, photoOf } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { makeWorld, objectOf, pick } from '../../support/world.ts';

export function orphanContract(engine: Engine): void {
  test('an orphan is stored and counted, and no role sees it', async (t) => {
    const world = await makeWorld(engine, t);
    const report = await world.write('Media', photoOf('A', 'M1'), photoOf('A', 'M2'));
    assert.deepEqual(nonZero(report), { inserted: 2, orphans: 2 });
    assert.deepEqual(nonZero(await world.write('Media', photoOf('A', 'M1'))), { unchanged: 1, orphans: 1 });
    assert.deepEqual(await world.keys('Media'), []);
    assert.equal(await world.count('Media'), 0);
    assert.equal(await world.record('Media', 'M1'), undefined);
    const { resources } = await world.store.status();
    const media = resources.find(({ resource }) => resource === 'Media');
    assert.deepEqual([media?.rows, media?.orphans], [2, 2]);
  });

  test('a parent that is written adopts its orphans, which then count as new', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Media', photoOf('A', 'M1'));
    world.clock.advance(60 * SECOND);
    const adopted = await world.write('Property', listing('A', { OriginatingSystemID: 'X' }));
    assert.deepEqual(nonZero(adopted), { inserted: 1, children: { stored: 1 } });
    const select = 'MediaKey,OriginatingSystemResourceRecordSystemID,ModificationTimestamp';
    const expected = {
      MediaKey: 'M1',
      OriginatingSystemResourceRecordSystemID: 'X',
      ModificationTimestamp: '2026-06-01T12:01:00.500Z',
    };
    assert.deepEqual(await world.rows('Media', `$select=${select}`), [expected]);
    assert.deepEqual(await world.keys('Media', '', { viewer: { role: 'idx', systems: ['X'] } }), ['M1']);
    assert.deepEqual(await world.keys('Media', '', { viewer: { role: 'idx', systems: ['Y'] } }), []);
    assert.deepEqual(await world.rows('Property', '$select=PhotosChangeTimestamp'), [
      { PhotosChangeTimestamp: '2026-06-01T12:01:00.500Z' },
    ]);
    const { resources } = await world.store.status();
    assert.equal(resources.find(({ resource }) => resource === 'Media')?.orphans, 0);
  });

  test('an adopted child is returned with its own values, in both interfaces', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Media', photoOf('A', 'M1', { ShortDescription: 'Front' }));
    await world.write('Property', listing('A', { OriginatingSystemID: 'X' }));
    const record = await world.record('Media', 'M1');
    assert.equal(record?.OriginatingSystemResourceRecordSystemID, 'X');
    const shown = await world.listing('A', { expansions: ['Photos'], select: ['ListingKey'] });
    const photos = objectOf(JSON.stringify(shown?.StandardFields)).Photos;
    assert.ok(Array.isArray(photos));
    assert.deepEqual(
      photos.map((each) => pick(each, 'Id', 'Name')),
      [{ Id: 'M1', Name: 'Front' }],
    );
  });

  test('a parent with a collection keeps those of its orphans that are in the collection', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Media', photoOf('A', 'M1'), photoOf('A', 'M2'), photoOf('A', 'M3'));
    const given = [photo('M1'), photo('M2', { ShortDescription: 'Other' })];
    await world.write('Property', listing('A', { OriginatingSystemID: 'X', Media: given }));
    const select = 'MediaKey,ShortDescription,OriginatingSystemResourceRecordSystemID';
    assert.deepEqual(await world.rows('Media', `$select=${select}`), [
      { MediaKey: 'M1', ShortDescription: null, OriginatingSystemResourceRecordSystemID: 'X' },
      { MediaKey: 'M2', ShortDescription: 'Other', OriginatingSystemResourceRecordSystemID: 'X' },
    ]);
  });

  test('children of a deleted parent that are written again are orphans', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Media: [photo('M1')] }));
    await world.store.remove('Property', ['A']);
    assert.deepEqual(nonZero(await world.write('Media', photoOf('A', 'M1'))), { inserted: 1, orphans: 1 });
    assert.equal(await world.count('Media'), 0);
    await world.write('Property', listing('A'));
    assert.deepEqual(await world.keys('Media'), ['M1']);
  });
}
