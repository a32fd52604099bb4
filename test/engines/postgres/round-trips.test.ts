/** The statements and round trips of each kind of request, and what a request does if its assumptions were wrong. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Client } from 'pg';
import { hashToken } from '../../../src/access/index.ts';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { connectLanes, TIMEOUTS } from '../../../src/engines/postgres/connection/connect.ts';
import { borrow } from '../../../src/engines/postgres/connection/session.ts';
import { withLookRow } from '../../../src/engines/postgres/reading/live-state.ts';
import { openPostgresStore } from '../../../src/engines/postgres/store.ts';
import { writeBackup } from '../../../src/engines/sqlite/backup.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { emptyDatabase, postgresEngine } from '../../support/postgres-engine.ts';
import { relayTo, type Traffic } from '../../support/postgres-relay.ts';
import { runOn } from '../../support/postgres-server.ts';
import { startTestService } from '../../support/service.ts';
import { objectOf, operations } from '../../support/world.ts';

const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
after(drop);
const relay = await relayTo({ after }, address);
const openAt = async (at: string) => {
  const store = await openPostgresStore({ address: at, writeBackup });
  after(() => store.close());
  return store;
};
const other = await openAt(address);

const behindRelay: Engine = {
  ...postgresEngine(),
  open: async () => ({
    store: await openAt(`${relay.address}?connections=3`),
    again: () => openAt(address),
    hold: () => assert.fail('nobody writes meanwhile'),
    copy: () => assert.fail('nothing is copied'),
    parts: () => assert.fail('nothing is copied'),
    damage: (...statements) => runOn(address, ...statements),
  }),
};

const KEYS = Array.from({ length: 30 }, (_, index) => `L${100 + index}`);
const { get, key, damage } = await startTestService(
  { after },
  {
    engine: behindRelay,
    async fill({ write }) {
      await write('Property', ...KEYS.map((each, index) => listing(each, { ListPrice: 1000 + index })));
    },
  },
);
const token = await key('api');
const ask = (path: string, as = token) => get('api', `/Reso/OData/${path}`, { token: as });

// On a busy machine, the work with which a service starts takes longer than the first requests.
for (let quiet = 0; quiet < 5; ) {
  const { commands } = await relay.during(() => ask('$metadata'));
  quiet = commands.length === 1 ? quiet + 1 : 0;
}

/** The minimum of several runs, since periodic work of the service may interfere with some of them. */
async function traffic(path: () => string, as = token): Promise<Traffic> {
  const tries: Traffic[] = [];
  for (let time = 0; time < 5; time++) tries.push(await relay.during(() => ask(path(), as)));
  const cost = ({ commands, waits }: Traffic): number => commands.length * 100 + waits;
  return tries.reduce((least, each) => (cost(each) < cost(least) ? each : least));
}

let filters = 0;
/** Requests whose responses no cache has, since each is sent once. */
let records = 0;

describe('a request', () => {
  const cases: readonly [name: string, path: () => string, commands: number, waits: number][] = [
    ['for a record', () => `Property('L${100 + (++records % 30)}')?$select=ListPrice`, 1, 1],
    ['for a record that was asked for before', () => "Property('L105')", 1, 1],
    ['for a record that is not there', () => "Property('L999')", 1, 1],
    ['for what needs no record', () => '$metadata', 1, 1],
    ['for nothing that there is', () => 'Nothing', 1, 1],
    ['for a count', () => 'Property/$count', 1, 1],
    [
      'for a page of keys',
      () => `Property?$select=ListingKey&$top=10&$skiptoken=L${100 + (++records % 30)}`,
      1,
      1,
    ],
    [
      'for a page of keys that was asked for before',
      () => 'Property?$select=ListingKey&$top=10&$skiptoken=L105',
      1,
      1,
    ],
    ['for a page', () => `Property?$top=10&$skiptoken=L${100 + (++records % 30)}`, 4, 1],
    ['for a page that was asked for before', () => 'Property?$top=10&$skiptoken=L105', 1, 1],
    ['for a page with a count', () => 'Property?$top=10&$count=true&$skiptoken=L105', 5, 2],
    [
      'for a page by a filter that is kept',
      () => `Property?$top=10&$skip=${++records % 20}&$filter=ListPrice gt 1005`,
      6,
      2,
    ],
    [
      'for a page by a filter that was asked for before',
      () => 'Property?$top=10&$filter=ListPrice gt 1005',
      2,
      2,
    ],
    [
      'for a page by a new filter',
      () => `Property?$top=10&$filter=ListPrice gt ${1000 + (++filters % 20)}.${filters}`,
      7,
      2,
    ],
    [
      'for a page by a new filter with an order',
      () =>
        `Property?$top=10&$orderby=City,ListPrice desc&$filter=ListPrice gt ${1000 + (++filters % 20)}.${filters}`,
      7,
      2,
    ],
  ];
  for (const [name, path, commands, waits] of cases) {
    it(`${name} sends ${commands} to the server, in ${waits} ${waits === 1 ? 'round trip' : 'round trips'}`, async () => {
      await ask(path());
      const least = await traffic(path);
      assert.deepEqual([least.commands.length, least.waits], [commands, waits], least.commands.join('\n'));
    });
  }
});

describe('concurrent requests', () => {
  it('share one check of the store, which is sent after they have arrived', async () => {
    const store = await openAt(relay.address);
    const [mine, another] = [hashToken(token), hashToken(await key('api'))];
    await Promise.all([store.look(mine), store.look(another)]);
    const together = await relay.during(() => Promise.all([mine, mine, another, mine].map(store.look)));
    assert.equal(together.commands.length, 2);
    const before = await store.look(mine);
    const [writing, seen] = [operations(other, testClock()).write('Property', listing('L105')), [before]];
    for (let time = 0; time < 3; time++)
      seen.push(...(await Promise.all([store.look(mine), store.look(mine)])));
    await writing;
    const after = await store.look(mine);
    assert.ok((after.commit ?? 0) > (before.commit ?? 0));
    for (const [index, { commit }] of seen.entries()) {
      assert.ok((commit ?? 0) >= (seen[index - 1]?.commit ?? 0), 'a check never returns an earlier state');
    }
  });
});

describe('an assumption of a request', () => {
  const record = async (as: string) => {
    const { status, json, headers } = await ask("Property('L105')", as);
    return { status, json, tag: headers.etag };
  };

  it('is checked when another process has revoked the key: 401, and nothing was read', async () => {
    const revoked = await key('api');
    const seen = await record(revoked);
    assert.equal(seen.status, 200);
    const { key: stored } = await other.look(hashToken(revoked));
    assert.ok(await other.keys.revoke(stored?.id ?? '', '2020-01-02T00:00:00Z'));
    const paths = [
      "Property('L105')",
      "Property('L999')",
      'Property?$top=10',
      'Property?$filter=ListPrice gt 1',
      '$metadata',
      'Nothing',
    ];
    for (const path of paths) {
      const { status, json, headers } = await ask(path, revoked);
      assert.equal(status, 401, path);
      assert.deepEqual(json, {
        error: { code: 'tokenRevoked', message: 'The key of this token is disabled.' },
      });
      assert.equal(headers.etag, undefined);
    }
    const again = await traffic(() => "Property('L105')", revoked);
    assert.equal(again.commands.length, 1);
    assert.doesNotMatch(again.commands.join(), /property/);
  });

  it('is checked when the key sees other records', async () => {
    const changed = await key('api');
    const before = await record(changed);
    assert.equal(before.status, 200);
    const systems = (text: string) =>
      damage(`UPDATE plat.plat_keys SET systems = '${text}' WHERE token_hash = '${hashToken(changed)}'`);
    await systems('["elsewhere"]');
    const hidden = await record(changed);
    const { json: missing } = await ask("Property('L999')", changed);
    assert.deepEqual([hidden.status, hidden.json], [404, missing]);
    await systems('[]');
    assert.deepEqual(await record(changed), before);
  });

  it('is checked when another process has brought a field into use', async () => {
    const before = await record(token);
    assert.equal('Appliances' in before.json, false);
    const model = await other.model();
    await operations(other, testClock()).write('Property', listing('L105', { Appliances: ['Oven'] }));
    assert.ok((await other.model()).generation > model.generation);
    const { json } = await record(token);
    assert.deepEqual(json.Appliances, ['Oven']);
  });

  it('that was wrong reveals nothing of the record that the statement would have read', async (t) => {
    const client = new Client({ connectionString: address });
    await client.connect();
    t.after(() => client.end());
    await client.query('SET search_path = plat');
    const [row] = (
      await client.query<{ key: string }>('SELECT row_to_json(k)::text AS key FROM plat_keys k LIMIT 1')
    ).rows;
    const { token_hash: hash } = objectOf(row?.key ?? '');
    // The server must not be able to evaluate the expression before it runs the statement.
    const value = '(1 / ($1::integer + (0 * random())::integer))';
    const statements = {
      rows: `SELECT count(${value}) AS n FROM plat_meta`,
      joined: `SELECT count(${value}) AS n FROM plat_meta`,
      body: `SELECT ${value}::text AS x FROM plat_meta LIMIT 1`,
      page: `SELECT name AS k, ${value}::text AS x FROM plat_meta ORDER BY name LIMIT 2`,
    } as const;
    for (const gives of ['rows', 'joined', 'body', 'page'] as const) {
      const text = withLookRow(statements[gives], gives, 1);
      const ask = async (...values: readonly unknown[]) => (await client.query(text, [...values])).rows;
      const [look, ...nothing] = await ask(0, hash, 'another');
      assert.deepEqual([nothing, look?.n ?? null], [[], null], gives);
      const [, ...found] = await ask(1, hash, row?.key);
      assert.equal(found.length, { rows: 0, joined: 0, body: 1, page: 2 }[gives]);
      await assert.rejects(ask(0, hash, row?.key), { code: '22012' }, gives);
    }
  });
});

describe('a connection', () => {
  it('sets the time limit of each borrower, and only if it changes', async () => {
    const lanes = connectLanes(parsePostgresAddress(`${relay.address}?connections=3`), TIMEOUTS);
    const limit = async (milliseconds?: number): Promise<unknown> => {
      using loan = await borrow(lanes.records, { milliseconds });
      return (await loan.run(({ rows }) => rows("SELECT current_setting('statement_timeout') AS now", [])))[0]
        ?.now;
    };
    const { commands } = await relay.during(async () => {
      assert.equal(await limit(), '1h');
      assert.equal(await limit(1500), '1500ms');
      assert.equal(await limit(1500), '1500ms');
      assert.equal(await limit(), '1h');
    });
    assert.equal(commands.filter((text) => text.startsWith('SET statement_timeout')).length, 2);
    await lanes.end();
  });
});
