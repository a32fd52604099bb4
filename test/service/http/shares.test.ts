/** Searches of one key do not delay those of another, and the search time of a key is limited. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing, room } from '../../support/builders.ts';
import { postgresEngine } from '../../support/postgres-engine.ts';
import { startTestService, type TestServiceOptions } from '../../support/service.ts';
import type { World } from '../../support/world.ts';
import { nativeFault, resoFault } from './envelopes.ts';

const rooms = (key: string) => Array.from({ length: 12 }, (_, index) => room(`${key}-${index}`));
async function fill({ write }: World): Promise<void> {
  await write('Property', listing('1', { Rooms: rooms('1') }), listing('2', { Rooms: rooms('2') }));
}

/** A condition that is never true, whose cost grows twelvefold with each level. */
const within = (levels: number, key: string): string =>
  levels === 0
    ? `RoomKey eq '${key}'`
    : `Listing/Rooms/any(r${levels}:r${levels}/${within(levels - 1, key)})`;

/** With the number of slow searches: they must take long enough that those of the other key arrive before most of them end. */
const engines: readonly (readonly [string, number, TestServiceOptions])[] = [
  ['SQLite', 10, { readers: { pageReaders: 1, searchReaders: 2 } }],
  ['PostgreSQL', 40, { engine: postgresEngine() }],
];

for (const [name, many, options] of engines) {
  describe(`on ${name}`, () => {
    it('a search of one key does not wait for all queued searches of another', async (t) => {
      const world = await startTestService(t, { fill, ...options });
      const [greedy, modest] = [await world.key('replication'), await world.key('replication')];
      const ask = async (path: string, token: string, ended: () => void): Promise<void> => {
        const { status, text } = await world.get('replication', `/Reso/OData/${path}`, { token });
        assert.equal(status, 200, text);
        ended();
      };
      /** The share of the remaining slow searches that end before three of another key. */
      const overtaken = async (part: number): Promise<number> => {
        let ended = 0;
        let before = 0;
        const slow = Array.from({ length: many }, (_, index) =>
          ask(`PropertyRooms/$count?$filter=${within(5, `none ${part} ${index}`)}`, greedy, () => ended++),
        );
        // When the first one ends, all others have arrived and wait.
        await Promise.race(slow);
        const first = ended;
        const quick = [1, 2, 3].map((price) =>
          ask(`Property/$count?$filter=ListPrice eq ${part}${price}`, modest, () => {
            before = ended;
          }),
        );
        await Promise.all([...slow, ...quick]);
        return (before - first) / (slow.length - first);
      };
      // In order of arrival, they would wait for all slow ones. On a busy machine, three attempts are allowed.
      const parts: number[] = [];
      while (parts.length < 3 && !parts.some((part) => part < 0.5))
        parts.push(await overtaken(parts.length + 1));
      assert.ok(Math.min(...parts) < 0.5, String(parts));
    });

    it('a key that has used its search time gets 429 for new searches; records, pages and other keys are served', async (t) => {
      const budget = { ...SERVICE_DEFAULTS.budget, searchSeconds: 0.0001, windowSeconds: 600 };
      const world = await startTestService(t, { fill, ...options, service: { budget } });
      const [greedy, modest] = [await world.key('replication'), await world.key('replication')];
      const get = (path: string, token: string) => world.get('replication', path, { token });
      assert.equal((await get('/Reso/OData/Property?$filter=ListPrice eq 1', greedy)).status, 200);
      const reso = await get('/Reso/OData/Property?$filter=ListPrice eq 2', greedy);
      const wait = Number(reso.headers['retry-after']);
      assert.ok(wait > 500 && wait <= 600, String(wait));
      const message = `The searches of this key took more than 0.0001 s in 600 s. The next search can run in ${wait} s; records and pages by key are served meanwhile.`;
      assert.deepEqual(resoFault(reso), [429, 'searchedTooLong', message]);
      assert.match(String(reso.headers.ratelimit), /^"requests";r=\d+;t=\d+$/);
      // HEAD and conditional requests cost the same search.
      for (const asked of [{ method: 'HEAD' }, { headers: { 'if-none-match': '*' } }]) {
        const path = '/Reso/OData/Property?$filter=ListPrice eq 4';
        const { status } = await world.get('replication', path, { token: greedy, ...asked });
        assert.equal(status, 429, JSON.stringify(asked));
      }
      const native = await get('/v1/listings?_filter=ListPrice Eq 3', greedy);
      assert.deepEqual(nativeFault(native).slice(0, 2), [429, 1550]);
      for (const path of [
        '/Reso/OData/Property',
        "/Reso/OData/Property('1')",
        '/v1/listings/1/rooms',
        '/Reso/OData/Property?$filter=ListPrice eq 1',
      ]) {
        assert.equal((await get(path, greedy)).status, 200, path);
      }
      assert.equal((await get('/Reso/OData/Property?$filter=ListPrice eq 2', modest)).status, 200);
      const { text } = await world.get('admin', '/metrics');
      assert.match(text, /^plat_budget_refusals_total\{why="searches"\} 4$/m);
    });
  });
}
