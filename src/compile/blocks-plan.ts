/**
 * Plans pages in key order of which the caller keeps blocks: the records of ranges of keys, with marks in place of the agents
 * and offices whose values they include. It does not know how blocks are kept.
 */

import type { Planner } from './context.ts';
import { visibleRows } from './context.ts';
import { all, column, type Sql, slot, sql } from './fragment.ts';
import type { StoreModel } from './model.ts';
import {
  baseOf,
  contextSource,
  followingRow,
  linkedIn,
  type PlannedStatement,
  planned,
  rowText,
} from './page-plan.ts';
import type { BlocksRequest } from './read.ts';
import type { LinkedTexts } from './text/linked-texts.ts';

/** How to read a page of blocks (store/read/blocks-task.ts). */
export interface BlocksPlan extends Pick<BlocksRequest, 'since' | 'after' | 'kept' | 'limit' | 'form'> {
  /** As `keptStamp` has it. */
  readonly stamp: string;
  readonly changes: PlannedStatement;
  /** The records after a key up to another one, or to the end. */
  readonly within: PlannedStatement;
  readonly beyond: PlannedStatement;
  readonly more: PlannedStatement;
  /** What the marks of the records stand for, and what has changed of it since the slot `position`. */
  readonly linking?: { readonly linked: LinkedTexts; readonly changes: PlannedStatement };
}

/** The same as long as what a view shows of records depends on nothing but the records. */
export const keptStamp = ({ epoch, generation, day, visibilityDay }: StoreModel): string =>
  `${epoch} ${generation} ${day} ${visibilityDay}`;

/** @param changesSince finds what has changed since a position */
export function planBlocks(
  planner: Planner,
  request: BlocksRequest,
  changesSince: (position: Sql) => Sql,
): BlocksPlan {
  const { query, since, after, kept, limit, form } = request;
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const linked = linkedIn(planner, request);
  const { from, main, keyed, text } = baseOf(planner, request, 'by-key', linked);
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const key = column(main, '_key');
  // A merge join of two partitioned tables needs the bounds of the key on both.
  const bounded = dialect.sameSystem === undefined ? [main] : keyed;
  const begin = bounded.map((alias) => sql`${column(alias, '_key')} > ${slot('after-key')}`);
  const end = bounded.map((alias) => sql`${column(alias, '_key')} <= ${slot('up-to')}`);
  const rows = (range: readonly Sql[]): PlannedStatement =>
    planned(
      planner,
      dialect.records(
        sql`SELECT ${key} AS k, ${rowText(dialect, text, linked)} FROM ${from} WHERE ${all([...visible, ...range])} ORDER BY ${key}${dialect.limit(slot('limit'))}`,
      ),
    );
  return {
    stamp: keptStamp(model),
    ...{ since, after, kept, limit, form },
    changes: planned(planner, changesSince(slot('position'))),
    within: rows([...begin, ...end]),
    beyond: rows(begin),
    more: planned(planner, followingRow(planner, query, slot('last-key'))),
    ...(linked === undefined
      ? {}
      : { linking: { linked, changes: planned(planner, changesSince(slot('position'))) } }),
  };
}
