/** Copies that follow their source's changes, on loopback and in real time: each appends them to its own sequence of changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientCredentials } from '../../../src/replica/http/client-credentials.ts';
import { replicate } from '../../../src/replica/run/replicate.ts';
import { listing, photo } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { type Follower, follower, REAL, status, untilHeld, untilLevel } from '../support/follower.ts';
import { json } from '../support/loopback.ts';
import { CLIENT, tokenEndpoint } from '../support/token-endpoint.ts';

test(
  'three copies in a row apply a change, a deleted photo and a deleted listing, without a window or a purge',
  { timeout: 60_000 },
  async (t) => {
    const origin = await startTestService(t, { clock: REAL });
    await origin.write('Property', listing('1'), listing('2', { Media: [photo('a')] }), listing('3'));
    const copies: Follower[] = [];
    for (let before: TestService = origin; copies.length < 3; before = copies.at(-1) ?? assert.fail()) {
      const copy = await follower(t, before);
      copies.push(copy);
      await untilHeld(copy.store, async () => (await copy.keys('Property')).length === 3);
      await untilLevel(copy);
    }
    const last = copies.at(-1) ?? assert.fail();
    const asked = copies.map(({ events }) => events.length);
    const price = async (copy: TestService): Promise<unknown> =>
      (await copy.rows('Property')).find(({ ListingKey }) => ListingKey === '1')?.ListPrice;

    await origin.write('Property', listing('1', { ListPrice: 777 }));
    await untilHeld(last.store, async () => (await price(last)) === 777);

    await origin.store.remove('Media', ['a']);
    const media = async (): Promise<boolean> => (await last.keys('Media')).length === 0;
    await untilHeld(last.store, media);

    await origin.store.remove('Property', ['3']);
    const gone = async (): Promise<boolean> => !(await last.keys('Property')).includes('3');
    await untilHeld(last.store, gone);

    // A listing that leaves the role's view is deleted from the copies.
    await origin.write('Property', listing('2', { StandardStatus: 'Withdrawn' }));
    await untilHeld(last.store, async () => (await last.keys('Property')).length === 1);

    const steps = copies
      .flatMap(({ events }, at) => events.slice(asked[at]))
      .filter(({ kind }) => kind === 'step');
    assert.deepEqual(steps, []);
  },
);

test(
  'a watch that begins to follow a copy of single runs purges at once, and so learns what was deleted since the last purge',
  { timeout: 60_000 },
  async (t) => {
    const origin = await startTestService(t, { clock: REAL });
    await origin.write('Property', listing('1'), listing('2'), listing('3'), listing('4'));
    const copy = await startTestService(t, { clock: REAL, settings: { owner: 'replica' } });
    const from = `${origin.addresses.replication}/Reso/OData`;
    const token = await origin.key('replication', { role: 'idx' });
    const source = { from, interface: 'reso', token, source: 'feed', resources: ['Property'] } as const;
    assert.equal(await replicate({ ...source, store: copy.store }), 'done');
    const { lastPurge } = await status(copy);
    assert.ok(lastPurge !== undefined, 'the run has purged');
    await origin.store.remove('Property', ['2']);
    const watching = await follower(t, origin, { store: copy.store });
    await untilHeld(copy.store, async () => !(await copy.keys('Property')).includes('2'));
    // If it stops and begins again, it continues where it was, and needs no purge.
    await watching.stop();
    const sweeps = watching.events.filter((event) => event.kind === 'step' && event.step === 'sweep');
    assert.deepEqual(
      sweeps.map((event) => event.kind === 'step' && event.state),
      ['begun', 'done'],
    );
    const again = await follower(t, origin, { store: copy.store });
    await origin.store.remove('Property', ['3']);
    await untilHeld(copy.store, async () => !(await copy.keys('Property')).includes('3'));
    assert.equal(
      again.events.some((event) => event.kind === 'step' && event.step === 'sweep'),
      false,
    );
  },
);

test(
  'a watch whose tokens expire continues to follow: its stream ends, and is opened again with a new token',
  { timeout: 60_000 },
  async (t) => {
    const origin = await startTestService(t, { clock: REAL });
    await origin.write('Property', listing('1'));
    const endpoint = await tokenEndpoint(t);
    // The tokens are keys of the service, which expire when they are revoked.
    endpoint.intercept = async () =>
      json({ access_token: await origin.key('replication', { role: 'idx' }), expires_in: 3600 });
    const revokeAll = async (): Promise<void> => {
      for (const { id } of await origin.store.keys.list())
        await origin.store.keys.revoke(id, '2020-06-01T00:00:00Z');
    };
    const token = clientCredentials({ tokenUrl: endpoint.url, ...CLIENT });
    const copy = await follower(t, origin, { token });
    await untilLevel(copy);
    for (const key of ['2', '3']) {
      const before = endpoint.requests.length;
      await revokeAll();
      await origin.write('Property', listing(key));
      await untilHeld(copy.store, async () => (await copy.keys('Property')).includes(key));
      assert.equal(endpoint.requests.length, before + 1, 'one token for all of its requests');
    }
    assert.deepEqual(
      copy.events.filter(({ kind }) => ['refresh', 'failed', 'retry'].includes(kind)),
      [],
    );
  },
);

test(
  'a large number of reported deletions waits for a purge, whose guard decides; a few are applied at once',
  {
    timeout: 60_000,
  },
  async (t) => {
    const origin = await startTestService(t, { clock: REAL });
    const keys = Array.from({ length: 40 }, (_, at) => String(100 + at));
    await origin.write('Property', ...keys.map((key) => listing(key)));
    const copy = await follower(t, origin);
    const stored = async (): Promise<number> => (await copy.keys('Property')).length;
    await untilHeld(copy.store, async () => (await status(copy)).following?.level !== undefined);
    await untilHeld(copy.store, async () => (await status(copy)).lastPurge !== undefined);
    const count = (kind: string): number => copy.events.filter((event) => event.kind === kind).length;

    await origin.store.remove('Property', keys.slice(0, 5));
    await untilHeld(copy.store, async () => (await stored()) === 35);
    await origin.store.remove('Property', keys.slice(5, 20));
    await untilHeld(copy.store, async () => count('guarded') > 0);
    assert.deepEqual(
      copy.events.filter((event) => event.kind === 'guarded'),
      [{ kind: 'guarded', resource: 'Property', rows: 20, of: 40 }],
    );
    assert.equal(await stored(), 35);
    // The watch continues to follow changes, and a purge is due.
    await origin.write('Property', listing('900'));
    await untilHeld(copy.store, async () => (await stored()) === 36);
    assert.equal((await status(copy)).lastPurge, undefined);
    await copy.stop();
    const purge = { step: 'purge', watch: false, signal: new AbortController().signal } as const;
    const run = async (force: boolean) => {
      const again = await origin.key('replication', { role: 'idx' });
      const from = `${origin.addresses.replication}/Reso/OData`;
      const { store } = copy;
      const common = {
        from,
        interface: 'reso',
        token: again,
        source: 'feed',
        store,
        resources: ['Property'],
      } as const;
      return replicate({ ...common, ...purge, force });
    };
    assert.equal(await run(false), 'guarded');
    assert.equal(await stored(), 36);
    assert.equal(await run(true), 'done');
    assert.equal(await stored(), 21);
  },
);
