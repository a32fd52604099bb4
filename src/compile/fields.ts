import type { Field, Navigation } from '../dictionary/index.ts';
import { type Context, recordOf, shownCondition, visibleRows, withheldBit } from './context.ts';
import { all, column, name, type Sql, sql } from './fragment.ts';
import { ownColumn } from './layout/index.ts';
import { isStored } from './model.ts';

/** Where a field's value is found: a column of `alias`, or of a row that a chain of links leads to. */
export type Place =
  /** Null: the store has never held a value of it. */
  | { readonly kind: 'none'; readonly value: Sql }
  | { readonly kind: 'column'; readonly alias: string; readonly column: Sql; readonly shown?: Sql }
  | { readonly kind: 'linked'; readonly link: Sql; readonly target: LinkedTarget };

/** The row on the other side of a to-one link. */
export interface LinkedTarget {
  readonly table: string;
  readonly alias: string;
  readonly key: Sql;
  /** Conditions on the row: what the role may see of it. Joined fields have none (contract, Access). */
  readonly conditions: readonly Sql[];
  readonly place: Place;
}

/** Finds a field of the record that a scope names, through to-one navigations if there are any. */
export function placeOf(context: Context, scope: number, via: readonly Navigation[], field: Field): Place {
  const { alias, resource } = recordOf(context, scope);
  return placeFrom(context, alias, resource, via, field);
}

function placeFrom(
  context: Context,
  alias: string,
  resource: string,
  via: readonly Navigation[],
  field: Field,
): Place {
  const [step, ...rest] = via;
  if (step === undefined) return ownPlace(context, alias, field);
  const none = nowhere(context, field);
  if (!context.model.stores(step.target)) return none;
  const layout = context.model.layout(step.target);
  const local = context.model.resource(resource).fields.get(step.local);
  if (local === undefined) return none;
  const link = ownPlace(context, alias, local);
  if (link.kind !== 'column') return none;
  const target = context.alias();
  const remote = layout.resource.fields.get(step.remote);
  const key = remote === undefined ? undefined : ownPlace(context, target, remote);
  if (key?.kind !== 'column') return none;
  return {
    kind: 'linked',
    link: link.column,
    target: {
      table: layout.columnsTable,
      alias: target,
      key: key.column,
      conditions: visibleRows(context, layout, target),
      place: placeFrom(context, target, step.target, rest, field),
    },
  };
}

const nowhere = ({ dialect }: Context, { collection, type }: Field): Place => ({
  kind: 'none',
  value: dialect.nothing(collection ? 'string' : type.kind),
});

function ownPlace(context: Context, alias: string, field: Field): Place {
  const { model, rows } = context;
  if (!model.inUse(field)) return nowhere(context, field);
  const layout = model.layout(field.resource);
  if (field.joined !== undefined && !isStored(field, model.settings)) {
    const { link, resource, field: targetName } = field.joined;
    const targetLayout = model.layout(resource);
    const targetField = targetLayout.resource.fields.get(targetName);
    const target = context.alias();
    if (targetField === undefined) return nowhere(context, field);
    return {
      kind: 'linked',
      link: column(alias, link),
      target: {
        table: targetLayout.columnsTable,
        alias: target,
        key: column(target, '_key'),
        conditions: [],
        place: { kind: 'column', alias: target, column: column(target, targetField.name) },
      },
    };
  }
  const bits = withheldBit(rows, layout, field);
  return {
    kind: 'column',
    alias,
    column: column(alias, ownColumn(layout.resource, field) ?? field.name),
    ...(bits === 0 ? {} : { shown: shownCondition(context, layout, alias, bits) }),
  };
}

/** The value at a place, as an expression. */
export function valueAt(place: Place): Sql {
  switch (place.kind) {
    case 'none':
      return place.value;
    case 'column':
      return place.shown === undefined
        ? place.column
        : sql`CASE WHEN ${place.shown} THEN ${place.column} END`;
    case 'linked': {
      const { table, alias, key, conditions, place: inner } = place.target;
      const where = all([sql`${key} = ${place.link}`, ...conditions]);
      return sql`(SELECT ${valueAt(inner)} FROM ${name(table)} ${name(alias)} WHERE ${where} LIMIT 1)`;
    }
  }
}

/**
 * "The value at this place satisfies a condition", where null never does. The bare column stands in the
 * condition, so that an index serves it; a linked value becomes a search in the other table first.
 */
export function conditionAt(place: Place, condition: (value: Sql) => Sql): Sql {
  switch (place.kind) {
    case 'none':
      return sql`FALSE`;
    case 'column':
      return place.shown === undefined
        ? condition(place.column)
        : sql`(${condition(place.column)} AND ${place.shown})`;
    case 'linked': {
      const { table, alias, key, conditions, place: inner } = place.target;
      const where = all([conditionAt(inner, condition), ...conditions]);
      return sql`${place.link} IN (SELECT ${key} FROM ${name(table)} ${name(alias)} WHERE ${where})`;
    }
  }
}
