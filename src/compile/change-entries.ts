/**
 * Which entries of the sequence of changes a reader may see: the one rule for everything that gives the sequence to readers. It
 * must not know how it is given.
 */
import { valueInUse } from './context.ts';
import { bind, integer, join, name, type Sql, sql } from './fragment.ts';
import type { StoreModel } from './model.ts';

const LOOKUP = 'Lookup';

/** Who reads the sequence. */
export interface EntryScope {
  /** The bit of the role. */
  readonly bit: number;
  /** Originating systems; absent: all. */
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
    ...(scope?.systems === undefined ? [] : [ofSystems(model, scope.systems)]),
    ...storedAsRecords(model),
  ];
}

/**
 * Resources without an originating system of their own are never filtered by it (access/view.ts), but for Lookup: which values
 * are in use in which systems is not written down in the sequence, so that a restricted key is told of listed values alone.
 */
function ofSystems(model: StoreModel, systems: readonly string[]): Sql {
  const free = [...model.dictionary.resources.keys()].filter(
    (each) => each !== LOOKUP && model.stores(each) && model.layout(each).systemSource === 'none',
  );
  const listed = sql`SELECT 1 FROM ${name(model.layout(LOOKUP).columnsTable)} l
    WHERE l._key = c.key AND NOT EXISTS (${valueInUse('l')})`;
  return sql`(${isOneOf(sql`c.system`, systems)} OR ${isOneOf(sql`c.resource`, free)} OR (c.resource = ${bind(LOOKUP)} AND EXISTS (${listed})))`;
}

/** A store of an earlier plat may hold imported records of what is now filled from the sequence, which nobody can read. */
const storedAsRecords = ({ dictionary, stores }: StoreModel): Sql[] =>
  [...dictionary.resources.values()]
    .filter(({ fromChanges, name }) => fromChanges && stores(name))
    .map(({ name }) => sql`c.resource <> ${bind(name)}`);

export const isOneOf = (value: Sql, texts: readonly string[]): Sql =>
  texts.length === 0 ? sql`FALSE` : sql`${value} IN (${join(texts.map(bind), ', ')})`;
