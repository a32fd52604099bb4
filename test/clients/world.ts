/** The market with which the recorded clients were run and are replayed. */

import { MARKET, MEMBERS, marketListing, OFFICES, PARTS } from '../service/reso/market.ts';
import type { World } from '../support/world.ts';

/** A custom field that one of the clients filters by. */
export const SETTINGS = {
  declarations: {
    customFields: [
      {
        resource: 'Property',
        name: 'MlgCanView',
        section: 'Details',
        group: 'Feed',
        label: 'Can View',
        type: 'boolean',
      },
    ],
  },
} as const;

/** Stores the market, with the name of its system and the custom field, in the same order. */
export async function fill({ write, clock }: World): Promise<void> {
  clock.set('2026-06-01T11:59:00Z');
  await write('Office', ...OFFICES);
  await write('Member', ...MEMBERS);
  for (const row of MARKET) {
    clock.set(row.modified);
    const parts = row.key === '1001' ? PARTS : {};
    await write(
      'Property',
      marketListing(row, { OriginatingSystemName: 'mred', MlgCanView: true, ...parts }),
    );
  }
  clock.set('2026-06-01T13:00:00Z');
}
