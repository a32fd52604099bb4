/** Sources that page by offset, with or without links: records that change or are deleted during a walk hide no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { member } from '../support/builders.ts';
import { testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { change, keyOf, keysUpTo, listings, take } from './support/feed.ts';
import { json, type Seen } from './support/loopback.ts';
import { odataServer, PROBES, type Traits } from './support/odata-server.ts';
import { makeReplica } from './support/replica.ts';

/** A copy of a hundred listings that have all changed since, each a minute after the one before. */
async function scene(scope: Scope, links: Traits['links']) {
  const clock = testClock();
  const server = await odataServer(
    scope,
    clock,
    { Property: listings(100, clock) },
    { links, page: 40, counts: true },
  );
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  const list = server.records.get('Property') ?? [];
  for (const key of keysUpTo(100)) {
    clock.advance(60_000);
    change(list, key, { ListPrice: 7 }, clock);
  }
  clock.advance(600_000);
  const prices = async (): Promise<unknown[]> =>
    (await replica.rows('Property', '$select=ListPrice&$top=200')).map(({ ListPrice }) => ListPrice);
  return { server, replica, clock, list, prices };
}

const isLaterPage = ({ path, query }: Seen): boolean =>
  path === '/odata/Property' && !PROBES.has(query.get('$top')) && Number(query.get('$skip') ?? 0) > 0;

for (const links of ['none', 'offset'] as const) {
  test(`links: ${links}: records that leave a window while it is read hide none of the others`, async (t) => {
    const { server, replica, clock, list, prices } = await scene(t, links);
    let changed = 0;
    server.intercept = (seen) => {
      if (isLaterPage(seen) && seen.query.has('$filter') && changed++ === 0) {
        clock.advance(120_000);
        for (const key of keysUpTo(12)) change(list, key, { ListPrice: 8 }, clock);
      }
      return undefined;
    };
    await replica.replicate({ step: 'update' });
    assert.ok(changed > 0);
    assert.deepEqual(
      replica.reported('again').map(({ reason }) => reason),
      ['The source pages by offset, and its records moved between two pages'],
    );
    clock.advance(600_000);
    await replica.replicate({ step: 'update' });
    const eights = Array.from({ length: 12 }, () => 8);
    assert.deepEqual(await prices(), [...eights, ...Array.from({ length: 88 }, () => 7)]);
    assert.deepEqual(replica.reported('unsure'), []);
  });

  test(`links: ${links}: if records move between all pages, the fifth window is taken as it comes, and that is reported`, async (t) => {
    const { server, replica, list, prices } = await scene(t, links);
    server.intercept = (seen) => {
      if (!isLaterPage(seen) || !seen.query.has('$filter')) return undefined;
      const moved = Number(seen.query.get('$skip')) + 20;
      return json({ value: list.slice(moved, moved + 40) });
    };
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    assert.equal(replica.reported('again').length, 4);
    assert.deepEqual(replica.reported('unsure'), [
      {
        resource: 'Property',
        reason: 'The source pages by offset, and its records moved between two pages, of 4 windows',
      },
    ]);
    const updated = (await prices()).flatMap((price, at) => (price === 7 ? [at] : []));
    assert.deepEqual(updated.slice(0, 41), [...Array.from({ length: 40 }, (_, at) => at), 50]);
  });

  test(`links: ${links}: a deletion during a sweep hides no record, and only what was deleted is purged`, async (t) => {
    const { server, replica, list } = await scene(t, links);
    let deleted = 0;
    server.intercept = (seen) => {
      if (isLaterPage(seen) && seen.query.has('$select') && deleted++ === 0) take(list, keyOf(2));
      return undefined;
    };
    assert.equal(await replica.replicate({ step: 'purge' }), 'done');
    assert.ok(deleted > 1);
    assert.deepEqual(await replica.keys('Property'), [keyOf(1), ...keysUpTo(98, 3)]);
    const { abilities } = await replica.status();
    assert.ok(abilities.includes('pages by offset, so sweeps are repeated until two agree'));
  });
}

test('links that end after as many rows as $top requested do not end the walk: one listing does not show what $top means', async (t) => {
  const clock = testClock();
  const members = Array.from({ length: 130 }, (_, at) =>
    member(`m${1000 + at}`, { ModificationTimestamp: '2026-05-01T00:00:00Z' }),
  );
  const records = { Property: listings(1, clock), Member: members };
  const server = await odataServer(t, clock, records, { top: 'total', page: 40 });
  const resources = ['Property', 'Member'];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  assert.equal(await replica.replicate({ pageSize: 60 }), 'done');
  assert.deepEqual(
    await replica.keys('Member'),
    members.map(({ MemberKey }) => MemberKey),
  );
});
