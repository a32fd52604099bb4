/**
 * The context in which a statement is compiled: the dialect, the model, the reader's scope and the aliases of rows. The condition
 * under which a role sees a row is defined here, once for all statements.
 */
import type { RowScope } from '../access/index.ts';
import type { Field } from '../dictionary/index.ts';
import type { Scope } from '../query/tree.ts';
import type { DamagedRecords } from './damaged-records.ts';
import { type Dialect, tolerateDamage } from './dialect.ts';
import { all, bind, column, integer, join, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';
import type { StoreModel } from './model.ts';
import { ANY_SYSTEM, VALUE_COUNTER_PREFIX } from './values-in-use.ts';

/** The part of the statement that a scope of the query tree refers to. */
type ScopeBinding =
  | { readonly kind: 'record'; readonly alias: string; readonly resource: string }
  | { readonly kind: 'value'; readonly sql: Sql };

/** Everything that the compiler needs to know. A child context differs only in its scopes. */
export interface Context extends ContextSource {
  readonly scopes: ReadonlyMap<Scope, ScopeBinding>;
  /** Returns a new alias, unique within the statement. */
  readonly alias: () => string;
  /** The aliases of search tables, and whether the statement also uses a column that the search table lacks (record-rows.ts). */
  readonly narrow: Map<string, boolean>;
}

export interface ContextSource {
  readonly dialect: Dialect;
  readonly model: StoreModel;
  readonly rows: RowScope;
  /** `now()` of the whole request, in canonical form. */
  readonly now: string;
  /** Absent if no damage is known, or if the reader is the operator, who must see what is wrong with a record. */
  readonly damaged?: DamagedRecords | undefined;
  /** Absent if the stored visibility follows today's rules. */
  readonly todaysRules?: TodaysRules;
}

/**
 * Today's visibility rules as SQL, used instead of the stored bits while these reflect the rules of an earlier day (visibility.ts).
 * Undefined for rows whose rules do not depend on the date.
 * @param alias the alias of either table of the layout
 */
export interface TodaysRules {
  readonly visible: (layout: ResourceLayout, alias: string, bit: number) => Sql | undefined;
  readonly shown: (layout: ResourceLayout, alias: string, bits: number) => Sql | undefined;
}

/** What the compilation of every statement needs. */
export type Planner = Pick<ContextSource, 'dialect' | 'model' | 'damaged'>;

/** The planner of a read: its statements do not fail on a list in a record that is known to be damaged. */
export const plannerOf = (dialect: Dialect, model: StoreModel, damaged: Planner['damaged']): Planner => ({
  dialect: damaged === undefined ? dialect : tolerateDamage(dialect),
  model,
  damaged,
});

/** A context in which scope 0 is a record of `resource` under `alias`. */
export function makeContext(source: ContextSource, alias: string, resource: string): Context {
  let aliases = 0;
  return {
    ...source,
    scopes: new Map([[0, { kind: 'record', alias, resource }]]),
    alias: () => `a${++aliases}`,
    narrow: new Map(),
  };
}

export function withScope(context: Context, scope: Scope, binding: ScopeBinding): Context {
  return { ...context, scopes: new Map(context.scopes).set(scope, binding) };
}

export function recordOf(context: Context, scope: Scope): { alias: string; resource: string } {
  const binding = context.scopes.get(scope);
  if (binding?.kind !== 'record') throw new Error(`Scope ${scope} is not a record`);
  return binding;
}

/** A condition that lets the engine search only the partition of a row when it joins another row of the same record. */
export function samePartition(dialect: Dialect, layout: ResourceLayout, alias: string, other: string): Sql[] {
  const same = dialect.sameSystem?.(layout, alias, other);
  return same === undefined ? [] : [same];
}

/** Joins the two tables of a layout: both rows are of the same record. */
export const sameRow = (dialect: Dialect, layout: ResourceLayout, alias: string, other: string): Sql =>
  all([
    sql`${column(alias, '_key')} = ${column(other, '_key')}`,
    ...samePartition(dialect, layout, alias, other),
  ]);

/** The conditions under which the role may see a row (I4). Every statement that reads records contains them. */
export function visibleRows(
  { rows, todaysRules }: Pick<ContextSource, 'rows' | 'todaysRules'>,
  layout: ResourceLayout,
  alias: string,
): Sql[] {
  const stored = sql`(${column(alias, '_visible')} & ${integer(rows.bit)}) <> 0`;
  const conditions = [todaysRules?.visible(layout, alias, rows.bit) ?? stored];
  if (rows.systems !== undefined && layout.systemSource !== 'none') {
    const systems = join(rows.systems.map(bind), ', ');
    conditions.push(sql`${column(alias, '_system')} IN (${systems})`);
  }
  if (rows.systems !== undefined && layout.resource.name === 'Lookup') {
    conditions.push(usedInSystems(rows, rows.systems, alias));
  }
  if (rows.onlyFloorPlans && layout.resource.name === 'Media') {
    conditions.push(sql`${column(alias, '_kind')} = 'plan'`);
    conditions.push(sql`${column(alias, '_parent_resource')} = 'Property'`);
  }
  return conditions;
}

/** A key that is restricted to systems sees only those unlisted values that are in use in rows of these systems. */
function usedInSystems({ bit }: RowScope, systems: readonly string[], alias: string): Sql {
  const counted = valueInUse(alias);
  const owners = join([...systems, ANY_SYSTEM].map(bind), ', ');
  return sql`(NOT EXISTS (${counted}) OR EXISTS (${counted} AND (n.visible & ${integer(bit)}) <> 0 AND n.system IN (${owners})))`;
}

/** The counters `n` of a value of Lookup that is in use and in no list; none for a listed value. */
export function valueInUse(alias: string): Sql {
  const counter = sql`concat(${bind(VALUE_COUNTER_PREFIX)}, ${column(alias, 'LookupName')}, ${bind('\n')}, ${column(alias, 'LookupValue')})`;
  return sql`SELECT 1 FROM plat_counters n WHERE n.resource = ${counter} AND n.rows > 0`;
}

/** The bits of `_shown` that a row must have to show the field to this request; 0 if the field is never withheld. */
export function withheldBit(rows: RowScope, layout: ResourceLayout, field: Field): number {
  if (!rows.withholds) return 0;
  return layout.withheldRules
    .filter((rule) => rule.classes.has(field.class))
    .reduce((bits, rule) => bits | rule.bit, 0);
}

/** The condition under which a row has all of these bits. */
export function shownCondition(
  { todaysRules }: Pick<ContextSource, 'todaysRules'>,
  layout: ResourceLayout,
  alias: string,
  bits: number,
): Sql {
  const today = todaysRules?.shown(layout, alias, bits);
  return today ?? sql`(${column(alias, '_shown')} & ${integer(bits)}) = ${integer(bits)}`;
}
