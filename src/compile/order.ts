/**
 * The order of the rows of a query as SQL, and the conditions for the rows after a given one. It must not know which tables contain
 * the rows.
 */
import type { OrderTerm } from '../query/tree.ts';
import type { Context } from './context.ts';
import { compileValue } from './expression.ts';
import { all, type BoundValue, bind, join, type Sql, sql } from './fragment.ts';

/** An order term: a value and its direction. */
interface Term {
  readonly value: Sql;
  readonly descending: boolean;
}

export interface Order {
  /** The values that a skip token contains in addition to the key. */
  readonly values: readonly Sql[];
  readonly clause: Sql;
  /** The ORDER BY clause in which rows that are equal in all values are in reverse order. */
  readonly tiesReversed: Sql;
  /**
   * The rows after a given row, as ranges in the order of the result: first rows that tie with it in everything but the key, then
   * rows that tie in everything but the last term, and so on. An index can serve each range, but not one condition with OR.
   */
  readonly after: (values: readonly BoundValue[], key: BoundValue) => Sql[];
}

/**
 * Makes the order of some rows.
 * @param last the terms after those of the query, in ascending order; the key of the rows is the last one
 */
export function orderBy(
  context: Context,
  order: readonly OrderTerm[],
  key: Sql,
  last: readonly Sql[] = [key],
): Order {
  const terms = order.map((term) => compileTerm(context, term));
  const ordered = terms.map((term) => context.dialect.order(term.value, term.descending));
  const reversed = last.map((each) => context.dialect.order(each, true));
  return {
    values: terms.map((term) => term.value),
    clause: join([...ordered, ...last], ', '),
    tiesReversed: join([...ordered, ...reversed], ', '),
    after: (values, lastKey) => rangesAfter(terms, values, key, lastKey),
  };
}

function compileTerm(context: Context, { expression, descending }: OrderTerm): Term {
  return { value: compileValue(context, expression), descending };
}

function rangesAfter(
  terms: readonly Term[],
  values: readonly BoundValue[],
  key: Sql,
  lastKey: BoundValue,
): Sql[] {
  const ties = terms.map((term, index) => equalTo(term.value, values[index] ?? null));
  const ranges = [all([...ties, sql`${key} > ${bind(lastKey)}`])];
  for (let depth = terms.length - 1; depth >= 0; depth--) {
    const term = terms[depth];
    if (term === undefined) continue;
    for (const beyond of beyondValue(term, values[depth] ?? null)) {
      ranges.push(all([...ties.slice(0, depth), beyond]));
    }
  }
  return ranges;
}

const equalTo = (term: Sql, found: BoundValue): Sql =>
  found === null ? sql`${term} IS NULL` : sql`${term} = ${bind(found)}`;

/** Null is the lowest value: first in an ascending order, last in a descending one. */
function beyondValue({ value: term, descending }: Term, found: BoundValue): Sql[] {
  if (descending) return found === null ? [] : [sql`${term} < ${bind(found)}`, sql`${term} IS NULL`];
  return found === null ? [sql`${term} IS NOT NULL`] : [sql`${term} > ${bind(found)}`];
}
