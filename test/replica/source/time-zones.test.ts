/** A source whose timestamps have no time zone: plat does not guess, but reads them as UTC if it is told to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCopyEqual } from '../../../src/replica/verify/results.ts';
import { DAY, testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import type { Json } from '../../support/world.ts';
import { keysUpTo, people } from '../support/feed.ts';
import { nativeServer } from '../support/native-server.ts';
import { metadataOf, odataServer } from '../support/odata-server.ts';
import { makeReplica } from '../support/replica.ts';

const METADATA = metadataOf(
  { ModificationTimestamp: 'Edm.DateTimeOffset', SeenTimestamp: 'Edm.DateTimeOffset' },
  ['Media'],
);

const media = (key: string): Json => ({
  MediaKey: `p${key}`,
  MediaURL: `https://photos.example/${key}.jpg`,
  MediaModificationTimestamp: '2026-05-01T07:00:00.25',
});

const zoneless = (own: Json = {}): Json[] =>
  keysUpTo(3).map((key) => ({
    ListingKey: key,
    StandardStatus: 'Active',
    ModificationTimestamp: '2026-05-01T08:00:00',
    PhotosChangeTimestamp: '2026-05-01T09:00',
    // A text in the form of a timestamp is not one.
    ListingId: '2026-05-01T10:00:00',
    ...own,
  }));

const SERVERS: Readonly<Record<string, (t: Scope) => Promise<{ root: string; kind: 'reso' | 'native' }>>> = {
  'reso with expansions and metadata': async (t) => {
    const list = zoneless({ SeenTimestamp: '2026-05-01T11:00:00' });
    const records = list.map((each) => ({ ...each, Media: [media(String(each.ListingKey))] }));
    const server = await odataServer(t, CLOCK, { ...people, Property: records }, { expands: ['Media'] });
    server.traits.metadata = METADATA;
    return { root: server.root, kind: 'reso' };
  },
  'reso with paths': async (t) => {
    const records = zoneless().map((each) => ({ ...each, Media: [media(String(each.ListingKey))] }));
    const server = await odataServer(t, CLOCK, { ...people, Property: records }, { paths: true });
    return { root: server.root, kind: 'reso' };
  },
  native: async (t) => ({ root: (await nativeServer(t, CLOCK, zoneless())).root, kind: 'native' }),
};
const CLOCK = testClock('2026-06-01T12:00:00Z');

for (const [what, serve] of Object.entries(SERVERS)) {
  test(`${what}: timestamps without a zone are quarantined with one explanation, and read as UTC on request`, async (t) => {
    const { root: from, kind } = await serve(t);
    const resources = ['Property'];
    const replica = await makeReplica(t, { from, interface: kind, clock: CLOCK, resources });
    await replica.replicate();
    assert.deepEqual(await replica.keys('Property'), []);
    const because = 'ModificationTimestamp is "2026-05-01T08:00:00", but takes a timestamp with a zone';
    const quarantine = await replica.quarantine();
    const reasons = quarantine.flatMap(([of, , reason]) => (of === 'Property' ? [reason] : []));
    assert.deepEqual([reasons.length, reasons.every((reason) => reason.includes(because))], [3, true]);
    assert.deepEqual(replica.reported('doubt'), [
      {
        reason:
          'The timestamps of the source have no time zone (ModificationTimestamp is "2026-05-01T08:00:00"), so its records are quarantined. If the source means UTC, --assume-utc --refresh reads them.',
      },
    ]);

    CLOCK.advance(DAY);
    assert.equal(await replica.replicate({ assumeUtc: true, refresh: true }), 'done');
    assert.deepEqual(await replica.quarantine(), []);
    const [stored] = await replica.rows('Property');
    const { ModificationTimestamp: modified, PhotosChangeTimestamp: changed, ListingId: text } = stored ?? {};
    assert.deepEqual(
      [modified, changed, text],
      ['2026-05-01T08:00:00Z', '2026-05-01T09:00:00Z', '2026-05-01T10:00:00'],
    );
    if (kind === 'reso') {
      const times = (await replica.rows('Media')).map((each) => each.MediaModificationTimestamp);
      assert.deepEqual(times, Array(3).fill('2026-05-01T07:00:00.250Z'));
    }
    // The copy remembers how its source is read.
    const verified = await replica.verify();
    assert.ok(isCopyEqual(verified), JSON.stringify(verified));
    assert.ok((await replica.status()).abilities.includes('timestamps without a time zone are read as UTC'));
  });
}

test('a source with metadata is read again when its timestamps are read as UTC, also its own ones', async (t) => {
  const { root: from } = (await SERVERS['reso with expansions and metadata']?.(t)) ?? {};
  const replica = await makeReplica(t, {
    ...{ from: String(from), interface: 'reso', clock: CLOCK },
    resources: ['Property'],
  });
  await replica.replicate();
  CLOCK.advance(DAY);
  await replica.replicate({ assumeUtc: true });
  assert.deepEqual(
    (await replica.rows('Property')).map((each) => each.SeenTimestamp),
    Array(3).fill('2026-05-01T11:00:00Z'),
  );
});
