/**
 * Searches and filters that call functions of JavaScript for each row: `node:sqlite` keeps what it passes to them until the statement
 * returns a row, so such a statement returns one in time, and every call ends it once its time is up.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { render } from '../../../src/compile/fragment.ts';
import { DEADLINE_MESSAGE, FunctionCalls, MEMORY_MESSAGE } from '../../../src/compile/functions.ts';
import { planCount, planIds } from '../../../src/compile/page-plan.ts';
import type { RecordQuery } from '../../../src/compile/read.ts';
import { connect, registerFunctions } from '../../../src/engines/sqlite/connection.ts';
import { sqliteDialect } from '../../../src/engines/sqlite/dialect.ts';
import { runTask } from '../../../src/engines/sqlite/tasks.ts';
import { idsWithWords } from '../../../src/engines/sqlite/word-index.ts';
import type { Search } from '../../../src/query/tree.ts';
import { Deadline } from '../../../src/shared/deadline.ts';
import { deflateNow } from '../../../src/store/read/blocks-task.ts';
import { ownMemory } from '../../../src/store/read/page-memory.ts';
import { makeReadContextFactory, type ReadTask } from '../../../src/store/read/read-task.ts';
import { listing } from '../../support/builders.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { sharedWorld, TIME, type World } from '../../support/world.ts';

const ROWS = 300;
const REMARKS = 'Über dem See, '.repeat(50);
/** The remarks of half of the records may be kept; a row is returned for one record in 61 if those of three are. */
const BOUNDS = { much: 3 * REMARKS.length, most: (ROWS / 2) * REMARKS.length, unchecked: 0 };

const world = sharedWorld(sqliteEngine(), async ({ write }) => {
  const listings = Array.from({ length: ROWS }, (_, at) =>
    listing(`L${String(at).padStart(3, '0')}`, {
      City: `Town ${at % 7}`,
      ListPrice: 1000 - at,
      PublicRemarks: `${REMARKS}${at % 5 === 0 ? 'pool' : 'garden'} of many the one`,
    }),
  );
  await write('Property', ...listings);
});

/** A connection of its own to the store, whose functions have these bounds. */
function connectionTo({ store }: World, deadline = new Deadline()) {
  const connection = connect({
    path: store.name,
    readOnly: true,
    busyTimeout: 1000,
    cacheMegabytes: 4,
    deadline,
  });
  after(() => connection.close());
  const calls = new FunctionCalls(deadline, BOUNDS);
  registerFunctions(connection.database, calls);
  return { ...connection, calls };
}

const context = makeReadContextFactory(deflateNow)({ isSent: false, memory: ownMemory });

const word = (text: string): Search => ({ kind: 'word', text });
const phrase = (text: string): Search => ({ kind: 'phrase', text });

const FILTERS = [
  "matchesPattern(PublicRemarks,'p[o0]+l')",
  "contains(tolower(PublicRemarks),'ÜBER') or contains(toupper(PublicRemarks),'POOL')",
  "endswith(PublicRemarks,'one') and ListPrice gt 900",
  "contains(tolower(PublicRemarks),'pool') and City eq 'Town 3'",
];
const SEARCHES: readonly Search[] = [
  { kind: 'search-not', operand: word('garden') },
  phrase('many the'),
  { kind: 'search-and', terms: [phrase('of many'), { kind: 'search-not', operand: word('pool') }] },
  { kind: 'search-or', terms: Array.from({ length: 300 }, (_, at) => word(at === 0 ? 'pool' : `w${at}`)) },
];

async function queries({ request }: World): Promise<RecordQuery[]> {
  const order = '$orderby=City desc,ListPrice';
  const filtered = FILTERS.map(async (filter) => {
    return (await request('Property', `$filter=${encodeURIComponent(filter)}&${order}`)).query;
  });
  const { query } = await request('Property', order);
  const { query: byKey } = await request('Property');
  return [
    ...(await Promise.all(filtered)),
    ...SEARCHES.flatMap((search) => [
      { ...query, search },
      { ...byKey, search },
    ]),
  ];
}

test('a statement that calls functions keeps no more than its bounds, and finds the same records', async () => {
  const here = await world();
  const planner = { dialect: sqliteDialect, model: await here.store.model() };
  const bounded = connectionTo(here);
  for (const query of await queries(here)) {
    const statement = planIds(planner, query);
    assert.ok(statement.scan, JSON.stringify(query.filter ?? query.search));
    const ids = runTask(bounded, { kind: 'ids', statement }, context, 1e6);
    const expected = await here.store.ids(query, TIME);
    assert.ok(expected.length > 0);
    assert.deepEqual(ids, { kind: 'ids', ids: expected });
    const counted: ReadTask = { kind: 'number', statement: planCount(planner, query), isKept: false };
    assert.deepEqual(runTask(bounded, counted, context, 1e6), { kind: 'number', value: expected.length });
  }
});

test('a statement that cannot return rows in between ends when it keeps too much; the next one begins anew', async () => {
  const bounded = connectionTo(await world());
  const SORTED =
    'SELECT count(*) AS n FROM (SELECT 1 FROM property_records ORDER BY plat_upper(PublicRemarks) LIMIT 5)';
  const counting = (text: string): ReadTask => ({
    kind: 'number',
    statement: { text, values: [] },
    isKept: false,
  });
  const some = counting('SELECT plat_upper(max(PublicRemarks)) IS NULL AS n FROM property_records');
  for (let turn = 0; turn < ROWS; turn++)
    assert.deepEqual(runTask(bounded, some, context, 1e6), { kind: 'number', value: 0 });
  assert.throws(() => runTask(bounded, counting(SORTED), context, 1e6), { message: MEMORY_MESSAGE });
  // Statements of writes and checks have no bound.
  assert.deepEqual({ ...bounded.database.prepare(SORTED).get() }, { n: 5 });
});

test('every call of a function ends a statement whose time is up', async () => {
  const here = await world();
  const deadline = new Deadline();
  const connection = connectionTo(here, deadline);
  const planner = { dialect: sqliteDialect, model: await here.store.model() };
  let calls = 0;
  // The time is up during the third call.
  const slow = connection.calls.bounded((text, search) => {
    if (++calls === 3) deadline.set(Number.NEGATIVE_INFINITY);
    return Number(text !== search);
  });
  connection.database.function('plat_satisfies', Object.defineProperty(slow, 'length', { value: 2 }));
  const { query } = await here.request('Property');
  for (const search of SEARCHES) {
    calls = 0;
    const task: ReadTask = { kind: 'ids', statement: planIds(planner, { ...query, search }) };
    assert.throws(() => runTask(connection, task, context, 1e6), { message: DEADLINE_MESSAGE });
    assert.equal(calls, 3);
  }
});

test('the index of words returns to the statement while it finds ids, so that the statement can end', async () => {
  const here = await world();
  const connection = connectionTo(here);
  const layout = (await here.store.model()).layout('Property');
  let steps = 0;
  connection.database.function('plat_deadline', () => {
    if (++steps === 3) throw new Error(DEADLINE_MESSAGE);
    return 1;
  });
  const ids = idsWithWords(layout, {
    kind: 'and',
    terms: ['of', 'the'].map((each) => ({ kind: 'phrase', words: [each] })),
  });
  const { text, values } = render(ids ?? assert.fail(), sqliteDialect.placeholder);
  assert.throws(() => connection.database.prepare(text).all(...values.map(String)), {
    message: DEADLINE_MESSAGE,
  });
  assert.equal(steps, 3);
});
