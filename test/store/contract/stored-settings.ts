/** What a store keeps of itself is read as input is: a row that plat does not write there is named in one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readState } from '../../../src/replica/copy/states.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld, type World } from '../../support/world.ts';

const DAMAGES: Readonly<
  Record<string, { statement: string; read: (world: World) => Promise<unknown>; says: RegExp }>
> = {
  'settings that are no JSON': {
    statement: "UPDATE plat_meta SET value = substr(value, 2) WHERE name = 'settings'",
    read: ({ again }) => again(),
    says: /its settings are no JSON/,
  },
  'settings of an owner that no store has': {
    statement: `UPDATE plat_meta SET value = replace(value, '"authority"', '"nobody"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings lack what every store has/,
  },
  'a role that is none': {
    statement: `UPDATE plat_meta SET value = replace(value, '"resources"', '"resourcez"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings cannot be used/,
  },
  'a field in use since never': {
    statement: "UPDATE plat_profile SET since = -1 WHERE field = 'ListPrice' OR field = 'StandardStatus'",
    read: ({ again }) => again(),
    says: /is in use since no version/,
  },
  'a key of no kind': {
    statement: "UPDATE plat_keys SET kind = 'master'",
    read: ({ store }) => store.keys.list(),
    says: /is of a kind that no key has/,
  },
  'systems of a key that are no list': {
    statement: `UPDATE plat_keys SET systems = '{"a":1}'`,
    read: ({ store }) => store.keys.find('hash'),
    says: /the systems of its key k1 are no list/,
  },
  'a note on a source that is no JSON': {
    statement: "UPDATE plat_ledger_state SET value = '{'",
    read: ({ store }) => store.ledger.state('feed'),
    says: /the notes on a source \(load Property\) are no JSON/,
  },
  'a note on a source in another shape': {
    statement: `UPDATE plat_ledger_state SET value = '{"kind":"current","cursor":5}'`,
    read: async ({ store }) => readState(await store.ledger.state('feed'), 'load Property'),
    says: /what it keeps of a source as "load Property" is not what plat writes there/,
  },
};

export function storedSettingsContract(engine: Engine): void {
  for (const [name, { statement, read, says }] of Object.entries(DAMAGES)) {
    test(name, async (t) => {
      const world = await makeWorld(engine, t);
      const key = { id: 'k1', name: 'k', kind: 'api', role: 'idx', systems: ['A'] } as const;
      const dates = { createdAt: '2026-01-01T00:00:00Z', expiresAt: null, revokedAt: null };
      await world.store.keys.add({ ...key, ...dates }, 'hash');
      await world.store.ledger.commit('feed', {
        state: { 'load Property': { kind: 'current', cursor: '2026-01-01T00:00:00Z' } },
      });
      await world.damage(statement);
      await assert.rejects(read(world), (error: Error & { readonly code?: string }) => {
        assert.equal(error.code, 'storeDamaged', String(error));
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      });
    });
  }
}
