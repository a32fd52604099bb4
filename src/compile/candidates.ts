/**
 * Finds the rows of a filter in two steps, for an engine that reads rows in the order of the index that finds them: an index first
 * finds the ids of candidates, which the engine sorts, and their rows are then read in the order of the table, so that each of its
 * pages is read once. Otherwise neighbors in the index, which are scattered over the table, each read a page.
 */
import type { Field } from '../dictionary/index.ts';
import { type Expression, type OrderTerm, operandsOf } from '../query/tree.ts';
import { type Context, recordOf, shownCondition, withheldBit, withScope } from './context.ts';
import { compileCondition, linkOf, testedField } from './expression.ts';
import { all, column, name, type Sql, sql } from './fragment.ts';
import { type FieldIndex, indexColumns } from './layout/field-indexes.ts';
import type { ResourceLayout } from './layout/index.ts';
import { useSearchTable } from './record-rows.ts';

/** A term that an index can serve: it tests one field of the record, or of one that this field leads to. */
interface Bound {
  readonly term: Expression;
  readonly field: Field;
  readonly isRange: boolean;
  readonly isLinked: boolean;
}

interface FilterCondition {
  readonly condition: Sql;
  /** Whether it is evaluated for each row, rather than once by a subquery or an index. */
  readonly isPerRow: boolean;
}

/**
 * Compiles a filter of the rows of scope 0, with the candidates of an index first if that is faster.
 * @param order the order in which the rows are read
 */
export function compileFilter(
  context: Context,
  layout: ResourceLayout,
  filter: Expression,
  order: readonly OrderTerm[],
): FilterCondition[] {
  const terms = context.dialect.kept === undefined ? [filter] : termsOf(filter);
  const bounds = terms.flatMap((term) => boundOf(context, term));
  const isLinked = (term: Expression): boolean => bounds.some((each) => each.term === term && each.isLinked);
  const compiled = (some: readonly Expression[]): FilterCondition[] =>
    some.map((term) => ({ condition: compileCondition(context, term, false), isPerRow: !isLinked(term) }));
  if (context.dialect.sortsLookups || layout.search === undefined) return compiled(terms);
  const index = indexFor(layout.indexes, bounds, order);
  if (index === undefined) return compiled(terms);
  const read = [...terms, ...order.map(({ expression }) => expression)];
  if (index.covered.length > 0 && read.every((each) => isCovered(each, index))) return compiled(terms);
  const { alias } = recordOf(context, 0);
  const found = bounds.filter(({ field }) => indexColumns(index).includes(field.name));
  const others = terms.filter((term) => found.every((bound) => bound.term !== term));
  const ids = candidates(context, layout, layout.search.table, found);
  return [
    { condition: sql`${column(alias, '_id')} IN (${ids})`, isPerRow: false },
    ...found
      .flatMap((bound) => shown(context, layout, alias, bound))
      .map((condition) => ({ condition, isPerRow: false })),
    ...compiled(others),
  ];
}

/** The terms that a filter joins with `and`. */
const termsOf = (filter: Expression): readonly Expression[] =>
  filter.kind === 'and' ? filter.terms.flatMap(termsOf) : [filter];

function boundOf(context: Context, term: Expression): Bound[] {
  const field = testedField(term);
  if (field === undefined || field.scope !== 0) return [];
  const link = linkOf(context, field);
  if (link !== undefined) return [{ term, field: link, isRange: false, isLinked: true }];
  if ((term.kind !== 'compare' && term.kind !== 'in') || !operandsOf(term).includes(field)) return [];
  const isRange = term.kind === 'compare' && term.operator !== 'eq';
  return isOwn(field) ? [{ term, field: field.field, isRange, isLinked: false }] : [];
}

/** Whether an expression is a field of the record itself. */
const isOwn = (expression: Expression): expression is Expression & { readonly kind: 'field' } =>
  expression.kind === 'field' &&
  expression.scope === 0 &&
  expression.via.length === 0 &&
  expression.field.joined === undefined;

/**
 * The only index whose first field has a given value or, if another order than that of an index is requested, is in a range: how
 * many rows are in a range is not known, and rows that are read in the order of an index need not be sorted. With several such
 * indexes, the engine chooses.
 */
function indexFor(
  indexes: readonly FieldIndex[],
  bounds: readonly Bound[],
  [first]: readonly OrderTerm[],
): FieldIndex | undefined {
  const bound = (name: string | undefined, isRange: boolean): boolean =>
    bounds.some(({ field, isRange: is }) => field.name === name && is === isRange);
  const by = first?.expression;
  const isSorted =
    by === undefined || (isOwn(by) && indexes.some(({ fields }) => fields[0] === by.field.name));
  const given = indexes.filter(({ fields }) => bound(fields[0], false));
  const possible =
    given.length > 0 || isSorted ? given : indexes.filter(({ fields }) => bound(fields[0], true));
  const [only, another] = possible;
  return another === undefined ? only : undefined;
}

/** Whether an index contains everything that an expression reads, so that no row of the table is read. */
function isCovered(expression: Expression, index: FieldIndex): boolean {
  switch (expression.kind) {
    case 'field':
      return isOwn(expression) && indexColumns(index).includes(expression.field.name);
    case 'distance':
    case 'within':
    case 'any':
    case 'all':
    case 'count':
      return false;
    default:
      return operandsOf(expression).every((each) => isCovered(each, index));
  }
}

/** The ids of the rows in which the fields of the index have such values, even if they are withheld from the reader. */
function candidates(context: Context, layout: ResourceLayout, table: string, bounds: readonly Bound[]): Sql {
  const alias = context.alias();
  const { resource } = recordOf(context, 0);
  const own = withScope(context, 0, { kind: 'record', alias, resource });
  const bare = { ...own, rows: { ...own.rows, withholds: false } };
  useSearchTable(bare, layout, alias);
  const conditions = bounds.map(({ term, isLinked }) => compileCondition(isLinked ? own : bare, term, false));
  return sql`SELECT ${column(alias, '_id')} FROM ${name(table)} ${name(alias)} WHERE ${all(conditions)}`;
}

/** The condition under which a row shows a field to the reader. */
function shown(context: Context, layout: ResourceLayout, alias: string, { field, isLinked }: Bound): Sql[] {
  const bits = isLinked ? 0 : withheldBit(context.rows, layout, field);
  return bits === 0 ? [] : [shownCondition(context, layout, alias, bits)];
}
