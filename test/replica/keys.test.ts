/** Keys that an address or a filter might misread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member, office, photo } from '../support/builders.ts';
import { DAY, SECOND } from '../support/clock.ts';
import { platFeed } from './support/plat-source.ts';

const KEYS = [
  "'",
  '#hash',
  '$top',
  '%41',
  '(a)',
  '..',
  'a b',
  'a"b',
  'a&b=c',
  "a'b''c",
  'a+b',
  'a,b',
  'a/b',
  'a;b',
  'a?b',
  'a\\b',
  "a\\'b",
  'ä€😀',
];

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: whatever characters a key has, its listing, sub-data and deletion are copied`, async (t) => {
    const feed = await platFeed(t);
    const of = (key: string, price: number) => listing(key, { ListPrice: price, Media: [photo(`m${key}`)] });
    await feed.write('Property', ...KEYS.map((key) => of(key, 1)));
    feed.clock.advance(60 * SECOND);
    const replica = await feed.replica(t, kind, { resources: ['Property'] });
    assert.equal(await replica.replicate({ pageSize: 2 }), 'done');
    const all = await feed.keys('Property');
    assert.equal(all.length, KEYS.length);
    assert.deepEqual(await replica.keys('Property'), all);
    assert.deepEqual(await replica.keys('Media'), await feed.keys('Media'));
    // All of them are missing here, and are requested by their keys.
    await replica.store.remove('Property', KEYS);
    feed.clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), all);
    assert.deepEqual(await replica.keys('Media'), await feed.keys('Media'));
    assert.deepEqual(
      (await replica.verify({ sample: 100 })).flatMap(({ differences }) => differences),
      [],
    );
    for (const key of KEYS) {
      await feed.store.remove('Property', [key]);
      feed.clock.advance(DAY);
      assert.equal(await replica.replicate({ step: 'purge', force: true, pageSize: 5 }), 'done');
    }
    assert.deepEqual(await replica.keys('Property'), []);
    assert.deepEqual(await replica.quarantine(), []);
  });

  test(`${kind}: a Member and an Office with the same key are two records`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Member', member('same'), member('other'));
    await feed.write('Office', office('same'), office('third'));
    feed.clock.advance(60 * SECOND);
    const replica = await feed.replica(t, kind, { resources: ['Member', 'Office'] });
    await replica.replicate();
    assert.deepEqual(await replica.keys('Member'), ['other', 'same']);
    assert.deepEqual(await replica.keys('Office'), ['same', 'third']);
    assert.deepEqual(
      (await replica.verify()).flatMap(({ differences }) => differences),
      [],
    );
    await feed.store.remove('Office', ['same']);
    feed.clock.advance(DAY);
    const [, offices] = await replica.verify();
    assert.deepEqual(
      offices?.differences.map(({ key, kind: what }) => [key, what]),
      [['same', 'not-at-source']],
    );
    await replica.replicate({ force: true });
    assert.deepEqual(await replica.keys('Member'), ['other', 'same']);
    assert.deepEqual(await replica.keys('Office'), ['third']);
  });
}
