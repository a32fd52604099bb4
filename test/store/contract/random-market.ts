/** Random writes to a small market, and the expected content of the store, computed by a simple model. */
import fc from 'fast-check';
import { listing, openHouse, photo, room } from '../../support/builders.ts';
import type { Json, World } from '../../support/world.ts';

export const KEYS = ['A', 'B', 'C', 'Ü', 'z'];
export const SYSTEMS = ['X', 'Y'];

/** One step of the random writes. */
export type Step =
  | { readonly kind: 'listing'; readonly key: string; readonly fields: Json; readonly children: Json }
  | { readonly kind: 'photo'; readonly of: string; readonly key: string; readonly permission: string | null }
  | { readonly kind: 'delete'; readonly resource: string; readonly keys: readonly string[] }
  | { readonly kind: 'batch'; readonly steps: readonly (Step & { readonly kind: 'listing' })[] };

const key = fc.constantFrom(...KEYS);
const photoKey = fc.constantFrom('M1', 'M2', 'M3', 'M4');
const roomKey = fc.constantFrom('R1', 'R2', 'R3');
const permission = fc.constantFrom(null, 'Private', 'IDX', 'Public');

const photos = fc
  .uniqueArray(fc.record({ key: photoKey, permission }), { maxLength: 3, selector: (each) => each.key })
  .map((found) =>
    found.map((each) => photo(each.key, { Permission: each.permission === null ? [] : [each.permission] })),
  );
const rooms = fc.uniqueArray(roomKey, { maxLength: 2 }).map((keys) => keys.map((each) => room(each)));
const houses = fc
  .record({ house: fc.constantFrom('O1', 'O2'), media: photos })
  .map(({ house, media }) => [
    openHouse(house, { Media: media.map((each) => ({ ...each, MediaKey: `${each.MediaKey}o` })) }),
  ]);

const children = fc.record({ Media: photos, Rooms: rooms, OpenHouses: houses }, { requiredKeys: [] });

const fields = fc.record({
  StandardStatus: fc.constantFrom('Active', 'Withdrawn', 'Incomplete', null),
  InternetEntireListingDisplayYN: fc.constantFrom(true, false, null),
  OriginatingSystemID: fc.constantFrom('X', 'X', 'Y', null),
  ListPrice: fc.integer({ min: 1, max: 3 }),
});

const listingStep = fc.record({ kind: fc.constant('listing' as const), key, fields, children });
const photoStep = fc.record({ kind: fc.constant('photo' as const), of: key, key: photoKey, permission });
const deletion = fc.oneof(
  fc.record({
    kind: fc.constant('delete' as const),
    resource: fc.constant('Property'),
    keys: fc.subarray(KEYS, { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('delete' as const),
    resource: fc.constant('Media'),
    keys: fc.subarray(['M1', 'M2', 'M1o']),
  }),
  fc.record({
    kind: fc.constant('delete' as const),
    resource: fc.constant('OpenHouse'),
    keys: fc.subarray(['O1', 'O2']),
  }),
);
const batch = fc.record({
  kind: fc.constant('batch' as const),
  steps: fc.uniqueArray(listingStep, { maxLength: 4, selector: (step) => step.key }),
});

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: listingStep },
  { weight: 2, arbitrary: photoStep },
  { weight: 2, arbitrary: batch },
  { weight: 1, arbitrary: deletion },
);

export async function take(world: World, step: Step): Promise<void> {
  switch (step.kind) {
    case 'listing':
      await world.write('Property', recordOf(step));
      return;
    case 'batch':
      await world.write('Property', ...step.steps.map(recordOf));
      return;
    case 'photo': {
      const Permission = step.permission === null ? [] : [step.permission];
      await world.write('Media', photo(step.key, { ResourceRecordKey: step.of, Permission }));
      return;
    }
    case 'delete':
      await world.store.remove(step.resource, step.keys);
  }
}

const recordOf = (step: Step & { kind: 'listing' }): Json =>
  listing(step.key, { ...step.fields, ...step.children });
