/**
 * Composes SQL without ever mixing in a value: text comes from this source code, names come from the dictionary, and
 * values are bound.
 */
import { chunked } from '../shared/chunked.ts';

export type BoundValue = string | number | boolean | null;

/** A value that is known only after an earlier statement of the same plan has run. */
export type Slot = 'key' | 'id' | 'last-key' | 'after-key' | 'up-to' | 'ids' | 'limit' | 'links' | 'position';

/** A parameter of a statement, until the engine binds it. */
type Unbound = { readonly slot: Slot } | { readonly texts: readonly string[] };

interface Bound {
  readonly bound: BoundValue | Unbound;
}

/** A fragment of a statement. */
export interface Sql {
  readonly parts: readonly (string | Bound)[];
  /** The texts whose concatenation this text is, for an engine that sends them one by one. */
  readonly texts?: readonly Sql[];
}

const EMPTY: Sql = { parts: [] };

/** sql`SELECT ${column} FROM t WHERE x = ${bind(5)}` */
export function sql(strings: TemplateStringsArray, ...inner: readonly Sql[]): Sql {
  const parts: (string | Bound)[] = [];
  for (const [index, text] of strings.entries()) {
    if (text !== '') parts.push(text);
    const next = inner[index];
    if (next !== undefined) parts.push(...next.parts);
  }
  return { parts };
}

export const bind = (value: BoundValue): Sql => ({ parts: [{ bound: value }] });

/** A bound list of texts, in the form that the engine's `oneOf` takes. */
export const bindTexts = (texts: readonly string[]): Sql => ({ parts: [{ bound: { texts } }] });

export const slot = (name: Slot): Sql => ({ parts: [{ bound: { slot: name } }] });

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** A quoted table, column or alias. Only names from the dictionary and of plat's own tables are accepted. */
export function name(identifier: string): Sql {
  if (!NAME.test(identifier))
    throw new Error(`${JSON.stringify(identifier)} is not the name of a table or column`);
  return { parts: [`"${identifier}"`] };
}

/** `alias.column` */
export function column(alias: string, identifier: string): Sql {
  return sql`${name(alias)}.${name(identifier)}`;
}

/** A whole number as part of the statement text, such as a visibility bit. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`);
  return { parts: [String(value)] };
}

/** A text that plat itself writes and that many requests share, as a quoted literal. */
export function constantText(text: string): Sql {
  return { parts: [`'${text.replaceAll("'", "''")}'`] };
}

export function join(fragments: readonly Sql[], separator: string): Sql {
  const parts: (string | Bound)[] = [];
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) parts.push(separator);
    parts.push(...fragment.parts);
  }
  return { parts };
}

/** Merges the parts of a fragment into as few as possible. */
export function compact({ parts, texts }: Sql): Sql {
  const merged: (string | Bound)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return texts === undefined ? { parts: merged } : { parts: merged, texts: texts.map(compact) };
}

/**
 * PostgreSQL takes at most 100 arguments of a function. SQLite (3.53) overwrites constants after the 32nd argument if no earlier one is
 * a constant.
 */
const MOST_ARGUMENTS = 32;

/** Concatenates any number of texts; null counts as empty. */
export function concat(texts: readonly Sql[]): Sql {
  if (texts.length <= MOST_ARGUMENTS) return { ...sql`concat(${join(texts, ', ')})`, texts };
  return concat([...chunked(texts, MOST_ARGUMENTS).map(concat)]);
}

/** The texts whose concatenation a text is, down to those that only the engine can divide. */
export const concatenatedTexts = (text: Sql): readonly Sql[] =>
  text.texts?.flatMap(concatenatedTexts) ?? [text];

/** `(a AND b AND …)`; TRUE for an empty list. */
export function all(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql`TRUE`;
  return conditions.length === 1 ? (conditions[0] ?? EMPTY) : joinConditions(conditions, ' AND ');
}

/** Engines limit the depth of a condition (SQLite: 1,000), and each term of `a OR b OR …` is one level. */
const CHAINED = 100;

/** Joins conditions with an operator, in parentheses; long chains are split into halves recursively. */
export function joinConditions(conditions: readonly Sql[], operator: ' AND ' | ' OR '): Sql {
  if (conditions.length <= CHAINED) return sql`(${join(conditions, operator)})`;
  const half = Math.ceil(conditions.length / 2);
  const halves = [conditions.slice(0, half), conditions.slice(half)];
  return sql`(${join(
    halves.map((part) => joinConditions(part, operator)),
    operator,
  )})`;
}

/** The text of a statement and its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (BoundValue | Unbound)[];
}

/** How an engine writes the nth parameter, counted from 1. */
export type Placeholder = (position: number, value: Bound['bound']) => string;

export function render(fragment: Sql, placeholder: Placeholder): Statement {
  const values: Bound['bound'][] = [];
  let text = '';
  for (const part of fragment.parts) {
    if (typeof part === 'string') text += part;
    else {
      values.push(part.bound);
      text += placeholder(values.length, part.bound);
    }
  }
  return { text, values };
}

/**
 * The values of a statement in the form of an engine's driver.
 * @param slots the values of slots; a slot without one is null
 */
export const valuesFor = <T>(
  { values }: Statement,
  slots: Readonly<Partial<Record<Slot, BoundValue>>>,
  one: (value: BoundValue) => T,
  list: (texts: readonly string[]) => T,
): T[] =>
  values.map((value) => {
    if (typeof value !== 'object' || value === null) return one(value);
    return 'texts' in value ? list(value.texts) : one(slots[value.slot] ?? null);
  });
