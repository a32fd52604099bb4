import type { RowScope } from '../access/index.ts';
import type { Field } from '../dictionary/index.ts';
import type { Scope } from '../query/tree.ts';
import type { DamagedRecords } from './damaged-records.ts';
import type { Dialect } from './dialect.ts';
import { all, bind, column, integer, join, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';
import type { StoreModel } from './model.ts';
import { ANY_SYSTEM, VALUES } from './values-in-use.ts';

/** What a scope of the query tree stands for in the statement. */
export type ScopeBinding =
  | { readonly kind: 'record'; readonly alias: string; readonly resource: string }
  | { readonly kind: 'value'; readonly sql: Sql };

/** What compiling needs to know. A child context differs in its scopes only. */
export interface Context extends ContextSource {
  readonly scopes: ReadonlyMap<Scope, ScopeBinding>;
  /** A fresh alias; no two in one statement are the same. */
  readonly alias: () => string;
}

export interface ContextSource {
  readonly dialect: Dialect;
  readonly model: StoreModel;
  readonly rows: RowScope;
  /** `now()` of the whole request, canonical. */
  readonly now: string;
  /** Absent: none is known, or the operator reads, who is to see what is wrong with one. */
  readonly damaged?: DamagedRecords | undefined;
  /** Absent where the stored bits follow the rules of today. */
  readonly todaysRules?: TodaysRules;
}

/**
 * The rules of today, spelled out in place of the stored bits that still follow those of a day before (visibility.ts);
 * undefined for rows whose rules do not look at the calendar.
 * @param alias of either table of the layout
 */
export interface TodaysRules {
  readonly visible: (layout: ResourceLayout, alias: string, bit: number) => Sql | undefined;
  readonly shown: (layout: ResourceLayout, alias: string, bits: number) => Sql | undefined;
}

/** What every statement is compiled with, whatever it reads. */
export interface Planner {
  readonly dialect: Dialect;
  readonly model: StoreModel;
  /** As in `ContextSource`. */
  readonly damaged?: DamagedRecords | undefined;
}

/** A context whose scope 0 is a record of `resource` under `alias`. */
export function makeContext(source: ContextSource, alias: string, resource: string): Context {
  let aliases = 0;
  return {
    ...source,
    scopes: new Map([[0, { kind: 'record', alias, resource }]]),
    alias: () => `a${++aliases}`,
  };
}

export function withScope(context: Context, scope: Scope, binding: ScopeBinding): Context {
  return { ...context, scopes: new Map(context.scopes).set(scope, binding) };
}

export function recordOf(context: Context, scope: Scope): { alias: string; resource: string } {
  const binding = context.scopes.get(scope);
  if (binding?.kind !== 'record') throw new Error(`Scope ${scope} is no record`);
  return binding;
}

/** What leads to where a row of `alias` lies that belongs to the row of another alias. */
export function besideRow(dialect: Dialect, layout: ResourceLayout, alias: string, other: string): Sql[] {
  const same = dialect.sameSystem?.(layout, alias, other);
  return same === undefined ? [] : [same];
}

/** The row of one of a layout's two tables that is of the same record as one of the other. */
export const sameRow = (dialect: Dialect, layout: ResourceLayout, alias: string, other: string): Sql =>
  all([
    sql`${column(alias, '_key')} = ${column(other, '_key')}`,
    ...besideRow(dialect, layout, alias, other),
  ]);

/** The rows of a table that the role may see (I4). Stands in every statement that reads records. */
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
    conditions.push(ofSystems(rows, rows.systems, alias));
  }
  if (rows.onlyFloorPlans && layout.resource.name === 'Media') {
    conditions.push(sql`${column(alias, '_kind')} = 'plan'`);
    conditions.push(sql`${column(alias, '_parent_resource')} = 'Property'`);
  }
  return conditions;
}

/** Of the values that are in use, and in no list, a key that is restricted to systems sees those of their rows. */
function ofSystems({ bit }: RowScope, systems: readonly string[], alias: string): Sql {
  const counter = sql`concat(${bind(VALUES)}, ${column(alias, 'LookupName')}, ${bind('\n')}, ${column(alias, 'LookupValue')})`;
  const counted = sql`SELECT 1 FROM plat_counters c WHERE c.resource = ${counter} AND c.rows > 0`;
  const owners = join([...systems, ANY_SYSTEM].map(bind), ', ');
  return sql`(NOT EXISTS (${counted}) OR EXISTS (${counted} AND (c.visible & ${integer(bit)}) <> 0 AND c.system IN (${owners})))`;
}

/** The bits of `_shown` without which a field reads as null for this request; 0 when it is never withheld. */
export function withheldBit(rows: RowScope, layout: ResourceLayout, field: Field): number {
  if (!rows.withholds) return 0;
  return layout.withheldRules
    .filter((rule) => rule.classes.has(field.class))
    .reduce((bits, rule) => bits | rule.bit, 0);
}

/** The condition under which the withheld bits are all shown. */
export function shownCondition(
  { todaysRules }: Pick<ContextSource, 'todaysRules'>,
  layout: ResourceLayout,
  alias: string,
  bits: number,
): Sql {
  const today = todaysRules?.shown(layout, alias, bits);
  return today ?? sql`(${column(alias, '_shown')} & ${integer(bits)}) = ${integer(bits)}`;
}
