/** I3: a change of a child moves the listing's ModificationTimestamp and its …ChangeTimestamp; a change of an agent moves none. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { type Asker, asker } from '../reso/asker.ts';

/** Kinds of children: how to make one, and the …ChangeTimestamp of the listing that it moves. */
const KINDS: Readonly<
  Record<string, { resource: string; make: (key: string, value: number) => Json; moves: string | undefined }>
> = {
  photo: media('Photo', 'PhotosChangeTimestamp'),
  plan: media('Floor Plan', 'PhotosChangeTimestamp'),
  video: media('Video', 'VideosChangeTimestamp'),
  document: media('Document', 'DocumentsChangeTimestamp'),
  room: {
    resource: 'PropertyRooms',
    make: (key, value) => room(`r${key}`, { RoomLength: value }),
    moves: undefined,
  },
  unit: {
    resource: 'PropertyUnitTypes',
    make: (key, value) => unit(`u${key}`, { UnitTypeBedsTotal: value }),
    moves: undefined,
  },
  openHouse: {
    resource: 'OpenHouse',
    make: (key, value) => openHouse(`o${key}`, { OpenHouseRemarks: `${value}` }),
    moves: 'OpenHousesChangeTimestamp',
  },
};

function media(MediaCategory: string, moves: string) {
  const letter = MediaCategory[0] ?? '';
  return {
    resource: 'Media',
    make: (key: string, value: number): Json => ({
      ...photo(`${letter}${key}`, { MediaCategory, Order: value }),
      ResourceName: 'Property',
      ResourceRecordKey: 'L1',
    }),
    moves,
  };
}

const STAMPS = [
  'ModificationTimestamp',
  'PhotosChangeTimestamp',
  'VideosChangeTimestamp',
  'DocumentsChangeTimestamp',
  'OpenHousesChangeTimestamp',
];

const step = fc.record({
  kind: fc.constantFrom(...Object.keys(KINDS), 'agent', 'office'),
  key: fc.integer({ min: 1, max: 2 }).map(String),
  /** 0 deletes the child. */
  value: fc.integer({ min: 0, max: 2 }),
});

async function stampsOf(feed: Asker): Promise<Json> {
  return feed.record(`Property('L1')?$select=${STAMPS.join(',')}`);
}

/** Writes or deletes a record. @returns the timestamps of the listing that should move */
async function take(
  service: TestService,
  values: Map<string, number>,
  { kind, key, value }: { kind: string; key: string; value: number },
): Promise<string[]> {
  const known = KINDS[kind];
  if (known === undefined) {
    const record =
      kind === 'agent'
        ? member('A1', { MemberPreferredPhone: key + value })
        : office('F1', { OfficePhone: key + value });
    await service.write(kind === 'agent' ? 'Member' : 'Office', record);
    return [];
  }
  const name = `${kind} ${key}`;
  const before = values.get(name) ?? 0;
  const record = { ...known.make(key, value), ...(known.resource === 'Media' ? {} : { ListingKey: 'L1' }) };
  if (value > 0) await service.write(known.resource, record);
  else await service.store.remove(known.resource, [String(Object.values(record)[0])]);
  values.set(name, value);
  if (before === value) return [];
  return ['ModificationTimestamp', ...(known.moves === undefined ? [] : [known.moves])];
}

test('I3 a change of a child moves the listing’s timestamp and the one of the child’s kind; nothing else does', async () => {
  const service = await startTestService({ after });
  const feed = asker(service, 'replication', await service.key('replication'));
  await service.write('Member', member('A1'));
  await service.write('Office', office('F1'));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await service.write(
        'Property',
        listing('L0'),
        listing('L1', { ListAgentKey: 'A1', ListOfficeKey: 'F1' }),
      );
      const values = new Map<string, number>();
      const other = await feed.record("Property('L0')?$select=ModificationTimestamp");
      for (const each of steps) {
        const before = await stampsOf(feed);
        service.clock.advance(1000);
        const expected = await take(service, values, each);
        const now = await stampsOf(feed);
        const moved = STAMPS.filter((name) => now[name] !== before[name]);
        assert.deepEqual(moved, expected, JSON.stringify(each));
        for (const name of moved) assert.equal(now[name], service.clock.text());
      }
      assert.deepEqual(await feed.record("Property('L0')?$select=ModificationTimestamp"), other);
      await service.store.remove('Property', ['L1']);
    }),
    { seed: 20260605, numRuns: 10 },
  );
});
