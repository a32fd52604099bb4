/** A copy that follows a plat source by its delta links, on loopback and in real time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member, office, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { follower, REAL, status, untilHeld, untilLevel } from '../support/follower.ts';

test(
  'a copy follows delta links: changes, media, listings that leave the view and deletions, without a window, a purge or a request by key',
  { timeout: 60_000 },
  async (t) => {
    const origin = await startTestService(t, { clock: REAL });
    await origin.write('Office', office('O1'));
    await origin.write('Member', member('A1', { OfficeKey: 'O1' }));
    await origin.write('Property', listing('1', { ListAgentKey: 'A1' }), listing('2'), listing('3'));
    const copy = await follower(t, origin, {
      follow: 'delta',
      resources: ['Property', 'Member', 'Office'],
    });
    await untilLevel(copy);
    assert.equal((await status(copy)).following?.way, 'delta');
    const row = async (key: string): Promise<Json> =>
      (await copy.rows('Property')).find(({ ListingKey }) => ListingKey === key) ?? {};
    const begun = { events: copy.events.length, asked: copy.asked.length };

    await origin.write('Property', listing('1', { ListAgentKey: 'A1', ListPrice: 777 }));
    await untilHeld(copy.store, async () => (await row('1')).ListPrice === 777);

    await origin.write('Media', photo('P1', { ResourceName: 'Property', ResourceRecordKey: '1' }));
    await untilHeld(copy.store, async () => (await copy.keys('Media')).length === 1);
    await origin.store.remove('Media', ['P1']);
    await untilHeld(copy.store, async () => (await copy.keys('Media')).length === 0);

    await origin.write('Member', member('A1', { OfficeKey: 'O1', MemberFullName: 'Ada' }));
    await untilHeld(copy.store, async () => (await row('1')).ListAgentFullName === 'Ada');

    // The listing leaves the view of the key's role, and comes back.
    await origin.write('Property', listing('2', { StandardStatus: 'Withdrawn' }));
    await untilHeld(copy.store, async () => !(await copy.keys('Property')).includes('2'));
    await origin.write('Property', listing('2'));
    await untilHeld(copy.store, async () => (await copy.keys('Property')).includes('2'));

    await origin.store.remove('Property', ['3']);
    await untilHeld(copy.store, async () => !(await copy.keys('Property')).includes('3'));

    assert.deepEqual(
      copy.events.slice(begun.events).filter(({ kind }) => kind === 'step'),
      [],
    );
    const byKey = copy.asked.slice(begun.asked).filter((url) => !url.includes('deltatoken='));
    assert.deepEqual(byKey, []);
  },
);
