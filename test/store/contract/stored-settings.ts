/** Stored settings are validated like input: a row that plat would not write is named in one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNote } from '../../../src/replica/checkpoint/notes.ts';
import { type Engine, isLeftToSqlite } from '../../support/engine.ts';
import { makeWorld, type World } from '../../support/world.ts';

const DAMAGES: Readonly<
  Record<string, { statement: string; read: (world: World) => Promise<unknown>; says: RegExp }>
> = {
  'settings that are not valid JSON': {
    statement: "UPDATE plat_meta SET value = substr(value, 2) WHERE name = 'settings'",
    read: ({ again }) => again(),
    says: /its settings are not valid JSON/,
  },
  'an unknown owner': {
    statement: `UPDATE plat_meta SET value = replace(value, '"authority"', '"nobody"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings lack what every store has/,
  },
  'an invalid role': {
    statement: `UPDATE plat_meta SET value = replace(value, '"resources"', '"resourcez"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings cannot be used/,
  },
  'an unknown time zone': {
    statement: `UPDATE plat_meta SET value = replace(value, '"UTC"', '"Not/AZone"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings have a "timeZone" that plat never writes/,
  },
  'an unknown setting': {
    statement: `UPDATE plat_meta SET value = replace(value, '"owner"', '"other":1,"owner"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings have a "other" that plat never writes/,
  },
  'an invalid onwardTimestamps': {
    statement: `UPDATE plat_meta SET value = replace(value, '"owner"', '"onwardTimestamps":"x","owner"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings have a "onwardTimestamps" that plat never writes/,
  },
  'one bit for two roles': {
    statement: `UPDATE plat_meta SET value = replace(value, '"owner"', '"roleBits":["idx","idx"],"owner"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings have a "roleBits" that plat never writes/,
  },
  'a role without a bit': {
    statement: `UPDATE plat_meta SET value = replace(value, '"owner"', '"roleBits":["idx"],"owner"') WHERE name = 'settings'`,
    read: ({ again }) => again(),
    says: /its settings cannot be used \(The role private has no bit\)/,
  },
  'an invalid last timestamp': {
    statement: "UPDATE plat_meta SET value = 'garbage' WHERE name = 'last_stamp'",
    read: async ({ again }) => (await again()).ahead(),
    says: /its last timestamp is not a timestamp/,
  },
  'an invalid settled time': {
    statement:
      "INSERT INTO plat_meta VALUES ('settled', 'x') ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    read: async ({ again }) => (await again()).ahead(),
    says: /the moment up to which it is settled is not a number/,
  },
  'an invalid settings version': {
    statement: "UPDATE plat_meta SET value = '1x' WHERE name = 'generation'",
    read: ({ again }) => again(),
    says: /the count of its settings is not a number/,
  },
  'a field in use with an invalid name': {
    statement: "UPDATE plat_profile SET field = 'garb]age' WHERE field = 'StandardStatus'",
    read: ({ again }) => again(),
    says: /the list of fields in use has "Property.garb]age", which is not a name/,
  },
  'a field in use without its column': {
    statement: 'ALTER TABLE media_records RENAME COLUMN "MediaURL" TO "MediaURN"',
    read: ({ store }) => store.rowFaults('Media', { kind: 'after', place: undefined, limit: 5 }),
    says: /MediaURL/,
  },
  'a field in use without a version': {
    statement: "UPDATE plat_profile SET since = -1 WHERE field = 'ListPrice' OR field = 'StandardStatus'",
    read: ({ again }) => again(),
    says: /is in use since an unknown version/,
  },
  'a key of an unknown kind': {
    statement: "UPDATE plat_keys SET kind = 'master'",
    read: ({ store }) => store.keys.list(),
    says: /has an unknown kind/,
  },
  'systems of a key that are not a list': {
    statement: `UPDATE plat_keys SET systems = '{"a":1}'`,
    read: ({ store }) => store.look('hash'),
    says: /the systems of its key k1 are not a list/,
  },
  'figures of the history that are not a list': {
    statement: `INSERT INTO plat_history VALUES (5, 'p', 0, 0, '[{"minute":0,"surfaces":{"api":5},"keys":{}}]')`,
    read: ({ store }) => store.history.since(0),
    says: /the history of minute 5 of process p has no figures of api/,
  },
  'a note on a source that is not valid JSON': {
    statement: "UPDATE plat_ledger_state SET value = '{'",
    read: async ({ store }) => readNote(await store.checkpoints.state('feed'), 'load Property'),
    says: /the note "load Property" of the checkpoint is not JSON/,
  },
  'a note on a source with another structure': {
    statement: `UPDATE plat_ledger_state SET value = '{"kind":"current","cursor":5}'`,
    read: async ({ store }) => readNote(await store.checkpoints.state('feed'), 'load Property'),
    says: /the note "load Property" of the checkpoint is not in the format that plat writes/,
  },
};

export function storedSettingsContract(engine: Engine): void {
  for (const [name, { statement, read, says }] of Object.entries(DAMAGES)) {
    test(name, async (t) => {
      if (isLeftToSqlite(engine, t)) return;
      const world = await makeWorld(engine, t);
      const key = { id: 'k1', name: 'k', kind: 'api', role: 'idx', systems: ['A'] } as const;
      const dates = { createdAt: '2026-01-01T00:00:00Z', expiresAt: null, revokedAt: null };
      await world.store.keys.add({ ...key, ...dates }, 'hash');
      await world.store.checkpoints.commit('feed', {
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

  test('an invalid day counts as one in the past: visibility is evaluated again', async (t) => {
    const world = await makeWorld(engine, t);
    await world.damage("UPDATE plat_meta SET value = 'garbage' WHERE name = 'day'");
    const model = await (await world.again()).model();
    assert.equal(model.visibilityDay, model.day);
  });
}
