import type { Planner } from '../../src/compile/context.ts';
import type { Statement } from '../../src/compile/fragment.ts';
import { type PagePlan, planCount, planIds, planPage, planRecord } from '../../src/compile/page-plan.ts';
import type { PageRequest, RecordQuery } from '../../src/compile/read.ts';
import { bindings, connect, registerFileUrl } from '../../src/engines/sqlite/connection.ts';
import { sqliteDialect } from '../../src/engines/sqlite/dialect.ts';
import type { Scope } from './engine.ts';
import type { World } from './world.ts';

/** The statements of a request, by purpose. */
export interface Planned {
  page(request: PageRequest): Readonly<Record<string, Statement>>;
  record(request: PageRequest, key: string): Statement;
  count(query: RecordQuery): Statement;
  ids(query: RecordQuery): Statement;
}

export async function plannedBy(world: World): Promise<Planned> {
  const planner: Planner = { dialect: sqliteDialect, model: await world.store.model() };
  return {
    page: (request) => statementsOf(planPage(planner, request)),
    record: ({ query, shape, files }, key) => planRecord(planner, { query, key, shape, files }),
    count: (query) => planCount(planner, query),
    ids: (query) => {
      const { scan, ...sorted } = planIds(planner, query);
      return scan ?? sorted;
    },
  };
}

function statementsOf(plan: PagePlan): Record<string, Statement> {
  switch (plan.kind) {
    case 'range':
      return plan.more === undefined ? { page: plan.page } : { page: plan.page, more: plan.more };
    case 'search':
      return {
        ...Object.fromEntries(plan.find.map((find, index) => [`find ${index}`, find])),
        body: plan.body,
      };
    case 'rows':
      return Object.fromEntries(plan.find.map((find, index) => [`find ${index}`, find]));
    case 'list':
      return { look: plan.look, body: plan.body };
  }
}

/** Reports how the engine would run a statement, with a line for each table, without names that plat has not chosen. */
export function explainer(scope: Scope, world: World): (statement: Statement) => string[] {
  const options = { path: world.store.name, readOnly: true, busyTimeout: 1000, cacheMegabytes: 4 };
  const connection = connect(options);
  registerFileUrl(connection.database, world.store.secret);
  scope.after(() => connection.close());
  return (statement) =>
    connection.database
      .prepare(`EXPLAIN QUERY PLAN ${statement.text}`)
      .all(...bindings(statement))
      .map(({ detail }) => String(detail))
      .filter((detail) => /^(SCAN|SEARCH|USE TEMP)/.test(detail));
}
