import type { OrderTerm } from '../query/tree.ts';
import type { Context } from './context.ts';
import { all, type BoundValue, bind, column, join, type Sql, sql } from './fragment.ts';
import { partOrder } from './native-part-text.ts';
import type { RecordQuery } from './read.ts';
import { value } from './value.ts';

/** One term of an order: what is compared, and which way. */
interface Term {
  readonly value: Sql;
  readonly descending: boolean;
}

export interface Order {
  /** The values that a skip token must carry, without the key. */
  readonly values: readonly Sql[];
  readonly clause: Sql;
  /**
   * The rows after a given one, as ranges that follow each other in the order: first those that tie with it in
   * all but the key, then those that tie in all but the last term, and so on. Each is a range that an index
   * serves; one condition with OR would not be.
   */
  readonly after: (values: readonly BoundValue[], key: string) => Sql[];
}

export function orderOf(context: Context, query: Pick<RecordQuery, 'order' | 'part'>, alias: string): Order {
  const terms = query.order.map((term) => compileTerm(context, term));
  const key = column(alias, '_key');
  const fixed =
    query.part === undefined || terms.length > 0 ? [key] : partOrder(context.dialect, query.part, alias);
  return {
    values: terms.map((term) => term.value),
    clause: join(
      [...terms.map((term) => context.dialect.order(term.value, term.descending)), ...fixed],
      ', ',
    ),
    after: (values, lastKey) => rangesAfter(terms, values, key, lastKey),
  };
}

function compileTerm(context: Context, { expression, descending }: OrderTerm): Term {
  return { value: value(context, expression), descending };
}

function rangesAfter(
  terms: readonly Term[],
  values: readonly BoundValue[],
  key: Sql,
  lastKey: string,
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

/** Null is lowest: first in an ascending order, last in a descending one. */
function beyondValue({ value: term, descending }: Term, found: BoundValue): Sql[] {
  if (descending) return found === null ? [] : [sql`${term} < ${bind(found)}`, sql`${term} IS NULL`];
  return found === null ? [sql`${term} IS NOT NULL`] : [sql`${term} > ${bind(found)}`];
}
