import type { ScalarType } from '../dictionary/index.ts';
import type { FunctionName, LikePart, Point, ValueType } from '../query/tree.ts';
import type { ColumnKind } from './column-value.ts';
import type { BoundValue, Placeholder, Sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

/** What an index of words can be asked: words that stand side by side, and such in combination. */
export type WordQuery =
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly WordQuery[] };

/** What the two engines say differently. Everything else the compiler writes once. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly placeholder: Placeholder;
  /** Null as a value of a type, where nothing else tells which. */
  readonly nothing: (type: ValueType) => Sql;
  /** A bound value of a type, in the form in which columns of that type are stored. */
  readonly literal: (type: ValueType, value: BoundValue) => Sql;
  /** How a column of a type is written as JSON; `null` when it is null. */
  readonly json: (type: ValueType | 'collection', value: Sql) => Sql;
  /** The same for a computed value, whose numbers are written as JavaScript writes them; `null` when it is null. */
  readonly computed: (type: ValueType, value: Sql) => Sql;
  /**
   * A column of a type as JSON, letter by letter as JavaScript writes it, with something around it; null when it is null.
   * At a value that no writer stores there the engine may fail. Whether a list is written as a writer does, it does not say.
   */
  readonly written: (type: ScalarType['kind'] | 'collection', column: Sql, around: (json: Sql) => Sql) => Sql;
  /** The content hash of a text (record/content-hash.ts). */
  readonly contentHash: (text: Sql, length: number) => Sql;
  /** A text as it stands in the path of an address; null where the engine cannot tell. */
  readonly inPath: (text: Sql) => Sql;
  /** A text as `encodeURIComponent` writes it, whatever it holds. */
  readonly inUrl: (text: Sql) => Sql;
  /** A member of a JSON object, as its text; null where the object has none. */
  readonly member: (object: Sql, name: string) => Sql;
  /** Texts joined by commas, in the order of the rows. */
  readonly joined: (text: Sql) => Sql;
  /** A statement that gives the texts `x` of rows as the engine's reader takes them: joined, or row by row. */
  readonly answer: (rows: Sql) => Sql;
  /**
   * The same for rows with their keys `k`, with their number and the last key; whether a row follows, which a statement
   * of its own may have to tell.
   */
  readonly page: (rows: Sql, follows: (last: Sql) => Sql) => { readonly page: Sql; readonly more?: Sql };
  /** Needed before a table of members that stands beside the rows whose members they are. */
  readonly lateral: Sql;
  /** A table `alias(value)` of the members of a multi-valued column. */
  readonly members: (collection: Sql, alias: string) => Sql;
  /** A table `alias(value, position)` of a bound JSON list. */
  readonly list: (json: Sql, alias: string) => Sql;
  /** A table `alias(column, …)` of a bound JSON list of objects, whose members are named like the columns. */
  readonly rowsOf: (objects: Sql, alias: string, columns: ReadonlyMap<string, ColumnKind>) => Sql;
  /** Whether a value is one of these texts. */
  readonly oneOf: (value: Sql, texts: readonly string[]) => Sql;
  /** Needed before OFFSET where no LIMIT stands. */
  readonly noLimit: Sql;
  /** Order that puts null lowest. */
  readonly order: (value: Sql, descending: boolean) => Sql;
  readonly call: (name: FunctionName, argumentsOf: readonly Sql[], types: readonly ValueType[]) => Sql;
  readonly cast: (from: ValueType, to: ValueType, value: Sql) => Sql;
  /** `point in time + seconds`, and the seconds between two. */
  readonly shift: (type: 'timestamp' | 'date', moment: Sql, seconds: Sql) => Sql;
  readonly secondsBetween: (type: 'timestamp' | 'date', later: Sql, earlier: Sql) => Sql;
  readonly matches: (text: Sql, pattern: string, ignoreCase: boolean) => Sql;
  readonly like: (text: Sql, pattern: readonly LikePart[]) => Sql;
  /** Whether words stand side by side, whole and in any case, where the engine has a way that is its own. */
  readonly hasWords?: (texts: Sql, words: readonly string[]) => Sql;
  /**
   * Which records may have the words, for a record under an alias of its columns table: all that have them in any
   * text, and perhaps others. Absent, or undefined, without an index of the resource's words.
   */
  readonly withWords?: (layout: ResourceLayout, alias: string, query: WordQuery) => Sql | undefined;
  /**
   * Finds, as `key`, what the index of a resource's words does not have or has too much, and how that is mended. Absent,
   * or undefined, without such an index.
   */
  readonly wordIndex?: (
    layout: ResourceLayout,
  ) => { readonly find: Sql; readonly mend: readonly Sql[] } | undefined;
  /**
   * "Of the same originating system as the row of another alias", for an alias of a layout's table whose rows are
   * looked for where that row lies. Absent, or undefined, where that leads nowhere nearer.
   */
  readonly sameSystem?: (layout: ResourceLayout, alias: string, other: string) => Sql | undefined;
  /** Whether a place lies in a polygon, its border included; null when a coordinate is. */
  readonly within: (latitude: Sql, longitude: Sql, polygon: readonly Point[]) => Sql;
  /** A condition that few rows satisfy, told to an engine that would not think so. */
  readonly rare: (condition: Sql) => Sql;
  readonly divide: (left: Sql, right: Sql, whole: boolean) => Sql;
  readonly remainder: (left: Sql, right: Sql) => Sql;
  /** A condition that ends the statement with an error once its time is up; nothing where the engine does it. */
  readonly deadline: Sql | undefined;
}
