/**
 * The exact statements of an engine for a set of requests. They stand in a file next to this one, each after its request;
 * `PLAT_GOLDEN=write` writes the file again, so that its changes can be reviewed.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { planBlocks } from '../../src/compile/blocks-plan.ts';
import type { Dialect } from '../../src/compile/dialect.ts';
import { planFacets } from '../../src/compile/facets-plan.ts';
import type { Statement } from '../../src/compile/fragment.ts';
import { planCount, planIds, planList, planPage, planRecord } from '../../src/compile/page-plan.ts';
import type { BlocksRequest, PageRequest } from '../../src/compile/read.ts';
import { bindFilter } from '../../src/query/native/filter.ts';
import { resourceNames } from '../../src/query/native/names.ts';
import { selectChangesSince } from '../../src/store/changes/change-follower.ts';
import { fillListings } from '../service/reso/odata-listings.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { viewOf } from '../support/views.ts';
import { makeWorld, type World } from '../support/world.ts';
import { type GoldenRequest, REQUESTS } from './requests.ts';

export function goldenSuite(dialect: Dialect): void {
  const file = fileURLToPath(new URL(`./${dialect.name}.golden.txt`, import.meta.url));
  test(`${dialect.name}: statements are exactly these`, async () => {
    const world = await makeWorld(sqliteEngine(), { after });
    await fillListings(world);
    world.clock.set('2026-06-01T12:00:00Z');
    const found: string[] = [];
    for (const golden of REQUESTS) found.push(await entry(world, dialect, golden));
    const text = found.join('\n\n');
    if (process.env.PLAT_GOLDEN === 'write') writeFileSync(file, `${text}\n`);
    assert.deepEqual(text.split('\n'), readFileSync(file, 'utf8').trimEnd().split('\n'));
    assert.equal(new Set(found).size, REQUESTS.length);
  });

  test(`${dialect.name}: no text of a request is in a statement`, async () => {
    const world = await makeWorld(sqliteEngine(), { after });
    await fillListings(world);
    const marks = /Rome|Moorhead|4\.?711|2026-02-0[0-9]|sea side|noisy|lake/;
    let bound = 0;
    for (const golden of REQUESTS) {
      for (const { text, values } of await statements(world, dialect, golden)) {
        assert.doesNotMatch(text, marks);
        bound += values.filter((value) => marks.test(JSON.stringify(value))).length;
      }
    }
    assert.ok(bound > 40, `${bound} values are bound`);
  });
}

async function entry(world: World, dialect: Dialect, golden: GoldenRequest): Promise<string> {
  const lines = (await statements(world, dialect, golden)).flatMap(({ text, values }) => [
    text,
    `  ${JSON.stringify(values)}`,
  ]);
  return [
    `# ${golden.plan} of ${golden.resource ?? 'Property'} for ${golden.role ?? 'private'}: ${golden.query}`,
    ...lines,
  ].join('\n');
}

async function statements(
  world: World,
  dialect: Dialect,
  golden: GoldenRequest,
): Promise<readonly Statement[]> {
  const { resource = 'Property', role = 'private', systems, position } = golden;
  const viewer = { role, ...(systems === undefined ? {} : { systems }) };
  const model = await world.store.model();
  const planner = { dialect, model };
  const options = { viewer, ...(position === undefined ? {} : { position }), limit: 10 };
  const asked = await world.request(resource, golden.language === 'native' ? '' : golden.query, options);
  const request: PageRequest =
    golden.language === 'native'
      ? { ...asked, query: { ...asked.query, ...nativeFilter() } }
      : { ...asked, query: { ...asked.query, ...searched() } };
  switch (golden.plan) {
    case 'ids': {
      const { scan, ...sorted } = planIds(planner, request.query);
      return scan === undefined ? [sorted] : [scan, sorted];
    }
    case 'count':
      return [planCount(planner, request.query)];
    case 'facets': {
      const { query } = request;
      const field = (name: string) => query.resource.fields.get(name) ?? assert.fail(name);
      const fields = ['City', 'BedroomsTotal', 'Appliances'].map(field);
      const histogram = { field: field('ListPrice'), edges: [1000, 4711] };
      return [planFacets(planner, { query, fields, most: 50, histogram })];
    }
    case 'record':
      return [planRecord(planner, { ...request, key: '4711' })];
    case 'list': {
      const plan = planList(planner, { ...request, ids: Uint32Array.of(3, 1, 2) });
      return plan.kind === 'list' ? [plan.look, plan.body] : [];
    }
    case 'blocks': {
      const blocks: BlocksRequest = {
        ...{ ...request, after: '', since: 0, kept: [] },
        ...{ isSmall: false, form: 'deflated' },
      };
      const { changes, beyond, more } = planBlocks(planner, blocks, selectChangesSince);
      return [changes, beyond, more];
    }
    case 'page': {
      const plan = planPage(planner, request);
      if (plan.kind === 'range') return plan.more === undefined ? [plan.page] : [plan.page, plan.more];
      return plan.kind === 'list' ? [plan.look] : plan.find;
    }
  }

  function nativeFilter() {
    const { schema } = viewOf(model, viewer);
    const names = resourceNames('listings', schema.of('Property'), schema);
    const filter = bindFilter(golden.query, names, { now: new Date(world.clock.now()) });
    return filter === undefined ? {} : { filter };
  }

  /** The helper of the tests that creates requests does not include the search. */
  function searched() {
    const { search } = golden;
    return search === undefined ? {} : { search };
  }
}
