/**
 * Which entries of the sequence of changes a reader may see: the one rule for all interfaces to the sequence. It must
 * not know the interfaces.
 */
import { valueInUse } from './context.ts';
import { bind, integer, join, name, type Sql, sql } from './fragment.ts';
import type { StoreModel } from './model.ts';

const LOOKUP = 'Lookup';

/** The reader of the sequence. */
export interface EntryScope {
  /** The bit of the role. */
  readonly bit: number;
  /** Originating systems; absent: all systems. */
  readonly systems?: readonly string[] | undefined;
}

/**
 * The conditions under which a reader sees an entry of the alias `c`: its role sees the record, or saw it before.
 * @param scope absent: the operator, who sees every entry of a record
 */
export function visibleEntries(model: StoreModel, scope: EntryScope | undefined): Sql[] {
  return [
    ...(scope === undefined
      ? [sql`c.kind <> 'all'`]
      : [sql`(c.was | c.visible) & ${integer(scope.bit)} <> 0`]),
    scope?.systems === undefined ? sql`c.kind <> 'left'` : inSystems(model, scope.systems),
    ...excludeFilledResources(model),
  ];
}

/**
 * Resources without an originating system are never filtered by it (access/view.ts), except Lookup: the sequence does not record
 * which values are in use in which systems, so a restricted key receives only entries of listed values.
 */
function inSystems(model: StoreModel, systems: readonly string[]): Sql {
  const free = [...model.dictionary.resources.keys()].filter(
    (each) => each !== LOOKUP && model.stores(each) && model.layout(each).systemSource === 'none',
  );
  const listed = sql`SELECT 1 FROM ${name(model.layout(LOOKUP).columnsTable)} l
    WHERE l._key = c.key AND NOT EXISTS (${valueInUse('l')})`;
  return sql`(${isOneOf(sql`c.system`, systems)} OR ${isOneOf(sql`c.resource`, free)} OR (c.resource = ${bind(LOOKUP)} AND EXISTS (${listed})))`;
}

/**
 * A store of an earlier version of plat may contain imported records of a resource that is now filled from the sequence; nobody can
 * read them.
 */
const excludeFilledResources = ({ dictionary, stores }: StoreModel): Sql[] =>
  [...dictionary.resources.values()]
    .filter(({ fromChanges, name }) => fromChanges && stores(name))
    .map(({ name }) => sql`c.resource <> ${bind(name)}`);

export const isOneOf = (value: Sql, texts: readonly string[]): Sql =>
  texts.length === 0 ? sql`FALSE` : sql`${value} IN (${join(texts.map(bind), ', ')})`;
