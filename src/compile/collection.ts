import type { Collection, Count, Quantified } from '../query/tree.ts';
import { condition } from './condition.ts';
import { besideRow, type Context, recordOf, visibleRows, withScope } from './context.ts';
import { placeOf, valueAt } from './fields.ts';
import { all, bind, column, name, type Sql, sql } from './fragment.ts';

/** The rows that a lambda ranges over: a FROM clause, its conditions, and the context in which they are named. */
interface Range {
  readonly from: Sql;
  readonly conditions: readonly Sql[];
  readonly context: Context;
}

/** A collection of records of which the store has never held one. */
const isBare = ({ model }: Context, over: Collection): boolean =>
  over.kind === 'records' && !model.stores(over.navigation.target);

/** `any` and `all` as (NOT) EXISTS. A predicate that is null counts as false (OData 4.01 URL 5.1.1.13). */
export function collectionCondition(context: Context, expression: Quantified): Sql {
  if (isBare(context, expression.over)) return expression.kind === 'any' ? sql`FALSE` : sql`TRUE`;
  const { predicate, over } = expression;
  if (over.kind === 'values' && predicate === undefined) {
    // A collection without members is stored as null.
    return expression.kind === 'any'
      ? sql`${valueAt(placeOf(context, over.scope, over.via, over.field))} IS NOT NULL`
      : sql`TRUE`;
  }
  const range = rangeOf(context, over, expression.variable);
  if (expression.kind === 'any') {
    const matches = predicate === undefined ? [] : [condition(range.context, predicate, false)];
    return sql`EXISTS (SELECT 1 FROM ${range.from} WHERE ${all([...range.conditions, ...matches])})`;
  }
  const fails =
    predicate === undefined
      ? sql`FALSE`
      : sql`NOT coalesce(${condition(range.context, predicate, true)}, FALSE)`;
  return sql`NOT EXISTS (SELECT 1 FROM ${range.from} WHERE ${all([...range.conditions, fails])})`;
}

export function collectionCount(context: Context, { over, variable, predicate }: Count): Sql {
  if (isBare(context, over)) return sql`0`;
  const range = rangeOf(context, over, variable);
  const matches = predicate === undefined ? [] : [condition(range.context, predicate, false)];
  return sql`(SELECT count(*) FROM ${range.from} WHERE ${all([...range.conditions, ...matches])})`;
}

function rangeOf(context: Context, over: Collection, variable: number): Range {
  const alias = context.alias();
  switch (over.kind) {
    case 'values': {
      const members = valueAt(placeOf(context, over.scope, over.via, over.field));
      return {
        from: context.dialect.members(members, alias),
        conditions: deadlineInside(context),
        context: withScope(context, variable, { kind: 'value', sql: column(alias, 'value') }),
      };
    }
    case 'records':
      return childRange(context, over, alias, variable);
  }
}

/** Lists in lists multiply, so that one row of the statement could outlast its time. */
const deadlineInside = ({ scopes, dialect: { deadline } }: Context): readonly Sql[] =>
  scopes.size > 1 && deadline !== undefined ? [deadline] : [];

function childRange(
  context: Context,
  over: Collection & { kind: 'records' },
  alias: string,
  variable: number,
): Range {
  const { navigation, scope, via } = over;
  const owner = recordOf(context, scope);
  const ownerResource = context.model.resource(navigation.resource);
  const ownerKey = ownerResource.fields.get(ownerResource.key);
  if (ownerKey === undefined) throw new Error(`${ownerResource.name} has no key field`);
  const key =
    via.length === 0 ? column(owner.alias, '_key') : valueAt(placeOf(context, scope, via, ownerKey));
  const holder = via.length === 0 ? owner.alias : undefined;
  const layout = context.model.layout(navigation.target);
  return {
    from: sql`${name(layout.columnsTable)} ${name(alias)}`,
    conditions: [
      ...childOf(context, navigation.target, navigation.remote, alias, navigation.resource, key, holder),
      ...visibleRows(context, layout, alias),
      ...deadlineInside(context),
    ],
    context: withScope(context, variable, { kind: 'record', alias, resource: navigation.target }),
  };
}

/**
 * "The row of `alias` belongs to the record with this key."
 * @param holder the alias of that record, where the statement has its row
 */
export function childOf(
  context: Context,
  target: string,
  remote: string,
  alias: string,
  owner: string,
  key: Sql,
  holder?: string,
): Sql[] {
  const { dialect, model } = context;
  const { parent } = model.resource(target);
  if (parent === undefined) return [sql`${column(alias, remote)} = ${key}`];
  const beside = holder === undefined ? [] : besideRow(dialect, model.layout(target), alias, holder);
  const belongs = [sql`${column(alias, '_parent')} = ${key}`, ...beside];
  return parent.kind === 'fixed'
    ? belongs
    : [...belongs, sql`${column(alias, '_parent_resource')} = ${bind(owner)}`];
}
