/** The statements of pages whose listings have agents and offices: SQLite joins texts and keys, PostgreSQL returns them as columns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planBlocks } from '../../src/compile/blocks-plan.ts';
import type { Dialect } from '../../src/compile/dialect.ts';
import { planList, planPage } from '../../src/compile/page-plan.ts';
import type { BlocksRequest } from '../../src/compile/read.ts';
import { LINK_MARK } from '../../src/compile/text/linked-texts.ts';
import { postgresDialect } from '../../src/engines/postgres/dialect.ts';
import { sqliteDialect } from '../../src/engines/sqlite/dialect.ts';
import { selectChangesSince } from '../../src/store/changes/change-follower.ts';
import { listing, member } from '../support/builders.ts';
import type { Scope } from '../support/engine.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';

/** Of a page in key order, a page of a list and the blocks of a page: the columns, with `<2>` for a mark, and the tables. */
async function statements(scope: Scope, dialect: Dialect): Promise<readonly string[]> {
  const { store, write, request } = await makeWorld(sqliteEngine(), scope);
  await write('Member', member('M1'));
  await write('Property', listing('L1', { ListAgentKey: 'M1' }));
  const planner = { dialect, model: await store.model() };
  const asked = await request('Property', '', { limit: 10 });
  const page = planPage(planner, asked);
  const list = planList(planner, { ...asked, ids: Uint32Array.of(1) });
  const blocks: BlocksRequest = { ...asked, after: '', since: 0, kept: [], isSmall: false, form: 'text' };
  const { beyond } = planBlocks(planner, blocks, selectChangesSince);
  assert.ok(page.kind === 'range' && list.kind === 'list');
  return [page.page, list.body, beyond].map(({ text }) => text.replaceAll(LINK_MARK, '<2>'));
}

const PIECES = ['open', 'facts', 'idx', 'open_reso']
  .flatMap((piece) => [`"t"."${piece}_values"`, `"t"."${piece}_nulls"`])
  .join(', ');
const KEYS = ['BuyerAgent', 'CoBuyerAgent', 'CoListAgent', 'ListAgent']
  .map((link) => `"t"."${link}Key"`)
  .join(', ');

test('postgres: pieces of texts and keys are columns of a row', async (t) => {
  const columns = `'{', ${PIECES}, '<2>', ${KEYS}, '<2>', '}'`;
  const seen = '("t"."_visible" & 1) <> 0';
  assert.deepEqual(await statements(t, postgresDialect), [
    `SELECT "t"."_key" AS k, ${columns} FROM "property_texts" "t" WHERE ${seen} ORDER BY "t"."_key" LIMIT $1::float8`,
    `SELECT ${columns} FROM unnest(translate($1::text, '[]', '{}')::bigint[]) WITH ORDINALITY "j"(value, position) CROSS JOIN "property_texts" "t" WHERE ("t"."_id" = "j"."value" AND ${seen}) ORDER BY "j"."position" LIMIT $2::bigint`,
    `SELECT "t"."_key" AS k, ${columns} FROM "property_texts" "t" WHERE (${seen} AND "t"."_key" > $1::text) ORDER BY "t"."_key" LIMIT $2::bigint`,
  ]);
});

test('sqlite: pieces of texts and keys are joined by the engine', async (t) => {
  const keys = KEYS.split(', ').map((key) => `CAST(${key} AS TEXT)`);
  const text = `concat('{', ${PIECES}, '<2>', json_array(${keys.join(', ')}), '<2>', '}') AS x`;
  for (const statement of await statements(t, sqliteDialect)) {
    assert.ok(
      statement.includes(`SELECT ${text} FROM`) || statement.includes(`AS k, ${text} FROM`),
      statement,
    );
  }
});
