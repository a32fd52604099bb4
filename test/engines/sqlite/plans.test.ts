/** Query plans of the statements of lists on SQLite: which indexes lead to the rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member } from '../../support/builders.ts';
import { explainer, plannedBy } from '../../support/plans.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld, TIME, type WorldRequest } from '../../support/world.ts';

/** What joins the ids of a list: those of a descending order are grouped by its values, in the order in which they are read. */
const joined = (options: string): readonly string[] =>
  options.includes(' desc') ? ['SCAN q', 'SCAN t'] : ['SCAN q'];

const BY_ID = ['SCAN json_each VIRTUAL TABLE INDEX 1:', 'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)'];

test('the rows of a list are found by their ids, whatever index has their order', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { City: 'Rome', ListPrice: 1 }));
  const planned = await plannedBy(world);
  const explain = explainer(t, world);
  const among = Uint32Array.of(1);
  for (const order of ['ListPrice desc', 'ModificationTimestamp', 'City,ListPrice']) {
    const { query } = await world.request('Property', `$orderby=${order}`);
    const sorted = explain(planned.ids({ ...query, among }));
    assert.deepEqual(sorted, [...BY_ID, 'USE TEMP B-TREE FOR ORDER BY', ...joined(order)], order);
    const after = { key: 'A', values: query.order.map(() => 1) };
    assert.deepEqual(explain(planned.count({ ...query, among, after })), BY_ID, order);
  }
  const { query } = await world.request('Property', '');
  assert.deepEqual(explain(planned.count({ ...query, among })), BY_ID);
});

test('a statement that may scan a table ends within a few rows of its time limit', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Member', member('M', { MemberCity: 'Rome' }));
  const city = { City: 'Rome', ListAgentKey: 'M', Appliances: ['Oven'] };
  await world.write('Property', ...Array.from({ length: 120 }, (_, at) => listing(`L${at}`, city)));
  const outOfTime = { milliseconds: 0.001 };
  const filters = {
    'a scan': 'ListPrice eq null',
    'rows of an index': "City eq 'Rome'",
    'a join': "ListAgent/MemberCity eq 'Rome'",
    'values of rows': "Appliances/any(a:a eq 'Oven')",
  };
  for (const [what, filter] of Object.entries(filters)) {
    const request = await world.request('Property', `$filter=${filter}&$orderby=ListPrice`);
    const { query } = request;
    assert.equal((await world.store.ids(query, TIME)).length, 120, what);
    const late = { code: 'queryTimedOut' } as const;
    await assert.rejects(world.store.ids(query, outOfTime), late, `ids of ${what}`);
    await assert.rejects(world.store.count(query, outOfTime), late, `the count of ${what}`);
    await assert.rejects(world.store.page({ ...request, limit: 120 }, outOfTime), late, `a page of ${what}`);
    const fields = [...query.resource.fields.values()].filter(({ name }) => name === 'Appliances');
    await assert.rejects(
      world.store.facets({ query, fields, most: 1 }, outOfTime),
      late,
      `values of ${what}`,
    );
  }
});

test('filters, orders and keys of listings are read from the search table and its indexes', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write(
    'Property',
    listing('A', {
      City: 'Rome',
      ListPrice: 1,
      BedroomsTotal: 1,
      LivingArea: 70,
      YearBuilt: 1900,
      Directions: 'N',
    }),
  );
  const planned = await plannedBy(world);
  const explain = explainer(t, world);
  const by = (index: string, terms: string, covers = ''): string =>
    `SEARCH r USING ${covers}INDEX property_search_by_${index} (${terms})`;
  const sorted = 'USE TEMP B-TREE FOR ORDER BY';
  const terms = 'City=? AND ListPrice>? AND ListPrice<?';
  const cityAndPrice = by('city_list_price_with_ss_bt_la', terms, 'COVERING ');
  const four = "$filter=City eq 'Rome' and ListPrice ge 1 and ListPrice le 2 and BedroomsTotal eq 1";
  // The index finds the ids, and their rows are read in the order of the table.
  const byIds = [
    'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
    `SEARCH a1 USING COVERING INDEX property_search_by_city_list_price_with_ss_bt_la (${terms})`,
  ];
  const wide = 'SEARCH r_w USING PRIMARY KEY (_key=?)';
  const plans: Readonly<Record<string, readonly string[]>> = {
    '$filter=LivingArea gt 60 and YearBuilt lt 1950': ['SCAN r USING INDEX property_search_walk'],
    [four]: [cityAndPrice, sorted],
    [`${four}&$orderby=ListPrice desc`]: [cityAndPrice],
    [`${four} and YearBuilt eq 1900`]: [...byIds, sorted],
    '$filter=ListPrice ge 1 and LivingArea gt 60&$orderby=ListPrice': [
      by('list_price_with_ss_bt_la', 'ListPrice>?', 'COVERING '),
    ],
    '$orderby=ListPrice': ['SCAN r USING COVERING INDEX property_search_by_list_price_with_ss_bt_la'],
    '$filter=ModificationTimestamp gt 2026-01-01T00:00:00Z and ModificationTimestamp le 2026-01-02T00:00:00Z':
      [by('modification_timestamp', 'ModificationTimestamp>? AND ModificationTimestamp<?'), sorted],
    [`${four} and Directions eq 'N'`]: [...byIds, wide, sorted],
    "$filter=Directions eq 'N'": ['SCAN r USING COVERING INDEX property_search_walk', wide],
  };
  for (const [options, plan] of Object.entries(plans)) {
    const { query } = await world.request('Property', options);
    assert.deepEqual(explain(planned.ids(query)), [...plan, ...joined(options)], options);
  }
  const position = { kind: 'after-key', key: 'A' } as const;
  const keys = await world.request('Property', '$select=ListingKey', { position });
  const page = planned.page(keys);
  const walk = 'USING COVERING INDEX property_search_walk (_key>?)';
  assert.deepEqual(explain(page.page ?? assert.fail()), [`SEARCH r ${walk}`, 'SCAN q']);
});

test('queries of the view of listings use the indexes of the search table', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { City: 'Rome', ListPrice: 1, Directions: 'N' }));
  const explain = explainer(t, world);
  const planOf = (rest: string): string[] => explain({ text: `SELECT ${rest}`, values: [] });
  const record = 'SEARCH r USING PRIMARY KEY (_key=?) LEFT-JOIN';
  assert.deepEqual(planOf("Directions FROM property WHERE ModificationTimestamp > '2026'"), [
    'SEARCH s USING COVERING INDEX property_search_by_modification_timestamp (ModificationTimestamp>?)',
    record,
  ]);
  assert.deepEqual(planOf("Directions FROM property WHERE ListingKey = 'A'"), [
    'SEARCH s USING COVERING INDEX property_search_walk (_key=?)',
    record,
  ]);
});

test('events are a range of the sequence, in its order', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  const planned = await plannedBy(world);
  const explain = explainer(t, world);
  const search = (terms: string): string => `SEARCH c USING PRIMARY KEY (${terms})`;
  const last = { kind: 'after-row', values: [70], key: '70' } as const;
  const plans: readonly (readonly [options: string, asked: WorldRequest, plan: readonly string[]])[] = [
    ['$filter=EntityEventSequence gt 50', {}, [search('seq>?')]],
    ["$filter=EntityEventSequence gt 50 and ResourceName eq 'Media'", {}, [search('seq>?')]],
    ['$filter=EntityEventSequence in (50,70)', {}, [search('seq>? AND seq<?')]],
    ['', { position: { kind: 'after-key', key: '70' } }, [search('seq>?')]],
    ['$orderby=EntityEventSequence desc', { position: last }, [search('seq<?')]],
    ['$orderby=EntityEventSequence desc,ResourceName', {}, ['SCAN c']],
    [
      '$filter=EntityEventSequence gt 50&$orderby=ResourceName',
      {},
      [search('seq>?'), 'USE TEMP B-TREE FOR ORDER BY'],
    ],
  ];
  for (const [options, asked, plan] of plans) {
    const page = planned.page(await world.request('EntityEvent', options, asked));
    assert.deepEqual(explain(page['find 0'] ?? assert.fail()), plan, options);
  }
  const record = planned.record(await world.request('EntityEvent'), '70');
  assert.deepEqual(explain(record), [search('seq=?'), 'SCAN q']);
});
