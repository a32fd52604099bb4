/**
 * SQL text that is put together without ever mixing in a value: texts come from this source code and names from
 * the dictionary, values are bound.
 */

export type BoundValue = string | number | boolean | null;

/** A value that is known only when an earlier statement of the same plan has run. */
export type Slot = 'last-key' | 'ids' | 'limit';

/** What stands in the place of a bound value until the engine binds it. */
export type Unbound = { readonly slot: Slot } | { readonly texts: readonly string[] };

interface Bound {
  readonly bound: BoundValue | Unbound;
}

/** A piece of a statement. */
export interface Sql {
  readonly parts: readonly (string | Bound)[];
}

export const EMPTY: Sql = { parts: [] };

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

/** A list of texts, in the form that the engine's `oneOf` takes. */
export const bindTexts = (texts: readonly string[]): Sql => ({ parts: [{ bound: { texts } }] });

export const slot = (name: Slot): Sql => ({ parts: [{ bound: { slot: name } }] });

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** A table, column or alias, quoted. Only names of the dictionary and of plat's own tables pass. */
export function name(identifier: string): Sql {
  if (!NAME.test(identifier))
    throw new Error(`${JSON.stringify(identifier)} is no name of a table or column`);
  return { parts: [`"${identifier}"`] };
}

/** `alias.column` */
export function column(alias: string, identifier: string): Sql {
  return sql`${name(alias)}.${name(identifier)}`;
}

/** A whole number that is part of the statement itself, such as a visibility bit. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`);
  return { parts: [String(value)] };
}

/** A text that plat itself made and that is the same for many requests, as a quoted literal. */
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

/** The same fragment in as few parts as there can be. */
export function compact({ parts }: Sql): Sql {
  const merged: (string | Bound)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return { parts: merged };
}

/** Engines bound the arguments of a function (PostgreSQL 100). */
const MOST_ARGUMENTS = 90;

/** The texts one after the other, where a null is no text; as many as there are. */
export function concat(texts: readonly Sql[]): Sql {
  if (texts.length <= MOST_ARGUMENTS) return sql`concat(${join(texts, ', ')})`;
  const chunks = Array.from({ length: Math.ceil(texts.length / MOST_ARGUMENTS) }, (_, index) =>
    concat(texts.slice(index * MOST_ARGUMENTS, (index + 1) * MOST_ARGUMENTS)),
  );
  return concat(chunks);
}

/** `(a AND b AND …)`; true when there is none. */
export function all(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql`TRUE`;
  return conditions.length === 1 ? (conditions[0] ?? EMPTY) : chain(conditions, ' AND ');
}

/** Engines bound how deep a condition nests (SQLite 1,000), and `a OR b OR …` nests at each term. */
const CHAINED = 100;

/** Conditions in parentheses with an operator between them; long chains in halves of halves. */
export function chain(conditions: readonly Sql[], operator: ' AND ' | ' OR '): Sql {
  if (conditions.length <= CHAINED) return sql`(${join(conditions, operator)})`;
  const half = Math.ceil(conditions.length / 2);
  const halves = [conditions.slice(0, half), conditions.slice(half)];
  return sql`(${join(
    halves.map((part) => chain(part, operator)),
    operator,
  )})`;
}

/** A statement as it is prepared, and what is bound to it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (BoundValue | Unbound)[];
}

/** How an engine writes the n-th bound value, from 1. */
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
