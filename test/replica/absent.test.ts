import assert from 'node:assert/strict';
import { test } from 'node:test';
import { photo } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { absentContract } from './absent.ts';
import { change, keyOf, keysUpTo, listings, take } from './support/feed.ts';
import { odataServer } from './support/odata-server.ts';
import { makeReplica, SOURCE } from './support/replica.ts';

for (const kind of ['reso', 'native'] as const) absentContract(sqliteEngine(), kind);

const resources = ['Property'];

test('a quarantined listing that the source has deleted leaves the quarantine with the next purge', async (t) => {
  const clock = testClock();
  const wrong = (number: number) => (number === 2 ? { ListPrice: 'much' } : {});
  const server = await odataServer(t, clock, { Property: listings(9, clock, wrong) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  clock.advance(DAY);
  await replica.replicate();
  assert.deepEqual(
    (await replica.quarantine()).map(([, key]) => key),
    [keyOf(2)],
    'a purge keeps the entry while the source still has the record',
  );
  take(server.records.get('Property') ?? [], keyOf(2));
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.quarantine(), []);
  assert.deepEqual(replica.reported('gone'), [{ resource: 'Property', keys: [keyOf(2)] }]);
  assert.deepEqual(await replica.keys('Property'), [keyOf(1), ...keysUpTo(7, 3)]);
});

for (const parts of ['expanded', 'by themselves'] as const) {
  test(`a quarantined photo leaves the quarantine when its listing comes without it, ${parts}`, async (t) => {
    const clock = testClock();
    const odd = { ...photo('odd'), Order: 'first' };
    const withOdd = (number: number) =>
      number === 1 ? { PhotosChangeTimestamp: clock.text(), Media: [photo('p1'), odd] } : {};
    const server = await odataServer(
      t,
      clock,
      { Property: listings(3, clock, withOdd) },
      parts === 'expanded' ? { expands: ['Media'] } : { paths: true },
    );
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    await replica.replicate();
    const [entry] = await replica.store.checkpoints.quarantined();
    assert.deepEqual([entry?.resource, entry?.key], ['Media', 'odd']);
    assert.deepEqual(JSON.parse(entry?.payload ?? ''), {
      ...odd,
      ResourceName: 'Property',
      ResourceRecordKey: keyOf(1),
    });
    clock.advance(DAY / 24);
    const moved = { PhotosChangeTimestamp: clock.text(), Media: [photo('p1')] };
    change(server.records.get('Property') ?? [], keyOf(1), moved, clock);
    clock.advance(600 * SECOND);
    await replica.replicate();
    assert.deepEqual(await replica.quarantine(), []);
    assert.deepEqual(replica.reported('gone'), [{ resource: 'Media', keys: ['odd'] }]);
    assert.deepEqual(await replica.keys('Media'), ['p1']);
  });
}

test('a retry stores a record that the source has corrected without a new timestamp, and keeps what is still wrong as it is now', async (t) => {
  const clock = testClock();
  const wrong = (number: number) => (number < 3 ? { ListPrice: 'much' } : {});
  const server = await odataServer(t, clock, { Property: listings(9, clock, wrong) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  const [first, second] = server.records.get('Property') ?? [];
  Object.assign(first ?? {}, { ListPrice: 70 });
  Object.assign(second ?? {}, { ListPrice: 'more' });
  const reason = 'ListPrice is "more", but takes a number';
  assert.deepEqual(await replica.retry(), {
    stored: 1,
    wanted: 0,
    gone: 0,
    still: [{ source: SOURCE, resource: 'Property', key: keyOf(2), reason }],
  });
  const [entry, ...others] = await replica.store.checkpoints.quarantined(SOURCE);
  assert.deepEqual([JSON.parse(entry?.payload ?? '').ListPrice, others], ['more', []]);
  const stored = (await replica.exported('Property')).find(({ ListingKey }) => ListingKey === keyOf(1));
  assert.equal(stored?.ListPrice, 70);
});
