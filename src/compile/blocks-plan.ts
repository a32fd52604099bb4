/**
 * Plans pages in key order whose blocks the caller caches: reads the records of ranges of keys, with marks in place of the agents
 * and offices whose values they include. It does not know how blocks are cached.
 */

import type { Planner } from './context.ts';
import { visibleRows } from './context.ts';
import { all, column, type Sql, slot, sql } from './fragment.ts';
import type { StoreModel } from './model.ts';
import {
  contextSource,
  followingRow,
  linkedTextsOf,
  type PlannedStatement,
  recordSource,
  renderStatement,
  rowText,
} from './page-plan.ts';
import type { BlocksRequest } from './read.ts';
import type { LinkedTexts } from './text/linked-texts.ts';

/** How to read a page of blocks (store/read/blocks-task.ts). */
export interface BlocksPlan extends Pick<BlocksRequest, 'since' | 'after' | 'kept' | 'limit' | 'form'> {
  /** The result of `viewVersion`. */
  readonly stamp: string;
  readonly changes: PlannedStatement;
  /** The records after a key up to another one, or to the end. */
  readonly within: PlannedStatement;
  readonly beyond: PlannedStatement;
  readonly more: PlannedStatement;
  /** The records that the placeholders stand for, and how to read those that have changed since the slot `position`. */
  readonly linking?: { readonly linked: LinkedTexts; readonly changes: PlannedStatement };
}

/** Identifies a state of the model: while it is unchanged, a view shows records differently only if the records change. */
export const viewVersion = ({ epoch, generation, day, visibilityDay }: StoreModel): string =>
  `${epoch} ${generation} ${day} ${visibilityDay}`;

/** @param changesSince selects the changes since a position */
export function planBlocks(
  planner: Planner,
  request: BlocksRequest,
  changesSince: (position: Sql) => Sql,
): BlocksPlan {
  const { query, since, after, kept, limit, form } = request;
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const linked = linkedTextsOf(planner, request);
  const { from, main, keyed, text } = recordSource(planner, request, 'by-key', linked);
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const key = column(main, '_key');
  // A merge join of two partitioned tables needs the bounds of the key on both.
  const bounded = dialect.sameSystem === undefined ? [main] : keyed;
  const begin = bounded.map((alias) => sql`${column(alias, '_key')} > ${slot('after-key')}`);
  const end = bounded.map((alias) => sql`${column(alias, '_key')} <= ${slot('up-to')}`);
  const rows = (range: readonly Sql[]): PlannedStatement =>
    renderStatement(
      planner,
      dialect.selectRecords(
        sql`SELECT ${key} AS k, ${rowText(dialect, text, linked)} FROM ${from} WHERE ${all([...visible, ...range])} ORDER BY ${key}${dialect.limit(slot('limit'))}`,
      ),
    );
  return {
    stamp: viewVersion(model),
    ...{ since, after, kept, limit, form },
    changes: renderStatement(planner, changesSince(slot('position'))),
    within: rows([...begin, ...end]),
    beyond: rows(begin),
    more: renderStatement(planner, followingRow(planner, query, slot('last-key'))),
    ...(linked === undefined
      ? {}
      : { linking: { linked, changes: renderStatement(planner, changesSince(slot('position'))) } }),
  };
}
