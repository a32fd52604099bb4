/**
 * Plans pages in key order of which the caller keeps blocks: the records of ranges of keys one by one, with the keys of the
 * agents and offices whose values they include. It does not know how blocks are kept.
 */

import type { Planner } from './context.ts';
import { visibleRows } from './context.ts';
import { all, column, join, name, type Sql, slot, sql } from './fragment.ts';
import type { StoreModel } from './model.ts';
import { baseOf, contextSource, followingRow, type PlannedStatement, planned } from './page-plan.ts';
import type { BlocksRequest } from './read.ts';

/** How to read a page of blocks (store/blocks-task.ts). */
export interface BlocksPlan extends Pick<BlocksRequest, 'since' | 'after' | 'kept' | 'limit'> {
  /** As `keptStamp` has it. */
  readonly stamp: string;
  readonly changes: PlannedStatement;
  /** The records after a key up to another one, or to the end: key, text and the keys of their links. */
  readonly within: PlannedStatement;
  readonly beyond: PlannedStatement;
  readonly more: PlannedStatement;
  /** The resources that the links lead to. */
  readonly links: readonly string[];
}

/** The same as long as what a view shows of records depends on nothing but the records. */
export const keptStamp = ({ epoch, generation, day, visibilityDay }: StoreModel): string =>
  `${epoch} ${generation} ${day} ${visibilityDay}`;

/** @param changes finds what has changed since the ranges were as they are kept */
export function planBlocks(planner: Planner, request: BlocksRequest, changes: Sql): BlocksPlan {
  const { query, since, after, kept, limit } = request;
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const { from, main, keyed, text } = baseOf(planner, request, 'by-key');
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const key = column(main, '_key');
  // A merge join of two partitioned tables needs the bounds of the key on both.
  const bounded = dialect.sameSystem === undefined ? [main] : keyed;
  const begin = bounded.map((alias) => sql`${column(alias, '_key')} > ${slot('after-key')}`);
  const end = bounded.map((alias) => sql`${column(alias, '_key')} <= ${slot('up-to')}`);
  const links = layout.links.map(({ field }, index) => sql`, ${column(main, field)} AS ${name(`l${index}`)}`);
  const rows = (range: readonly Sql[]): PlannedStatement =>
    planned(
      planner,
      sql`SELECT ${key} AS k, ${dialect.bytes(text)} AS x${join(links, '')} FROM ${from}
        WHERE ${all([...visible, ...range])} ORDER BY ${key} LIMIT ${slot('limit')}`,
    );
  return {
    stamp: keptStamp(model),
    ...{ since, after, kept, limit },
    changes: planned(planner, changes),
    within: rows([...begin, ...end]),
    beyond: rows(begin),
    more: planned(planner, followingRow(planner, query, slot('last-key'))),
    links: layout.links.map(({ resource }) => resource),
  };
}
