/** The SQL that differs by engine. This module knows no engine. */
import type { ScalarType } from '../dictionary/index.ts';
import type { ArithmeticOperator, FunctionName, LikePart, Search, ValueType } from '../query/tree.ts';
import { memoizePerObject } from '../shared/memoize.ts';
import {
  type EngineCasts,
  type EngineFunctions,
  type JsonForms,
  makeCall,
  makeCast,
  makeJson,
} from './calls.ts';
import type { ColumnKind } from './column-value.ts';
import { type BoundValue, bind, type Placeholder, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

/** A query of a word index: adjacent words, and combinations of such phrases. */
export type WordQuery =
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly WordQuery[] };

/** The SQL with which an engine reads a page. */
interface PageSql {
  readonly page: Sql;
  /** Determines whether a row follows, if `page` does not. */
  readonly more?: Sql;
  /**
   * Whether `page` returns one row: all texts joined as `x`, their number `n`, the last key `last`, and `more`, the key
   * of a following row.
   */
  readonly isJoined?: true;
}

/** The SQL that differs by engine. The compiler writes everything else once, for all engines. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly placeholder: Placeholder;
  /** A null of this type, for places where the engine cannot infer the type. */
  readonly nullOf: (type: ValueType) => Sql;
  /** A bound value, in the form in which columns of the type are stored. */
  readonly literal: (type: ValueType, value: BoundValue) => Sql;
  /** A column as JSON text; `null` if it is null. */
  readonly json: (type: ValueType | 'collection', value: Sql) => Sql;
  /** A computed value as JSON text, with numbers as JavaScript writes them; `null` if it is null. */
  readonly computed: (type: ValueType, value: Sql) => Sql;
  /**
   * A column as JSON text, exactly as JavaScript writes it, with `around` applied; null if the column is null. The engine may fail
   * on a value that no writer stores, and need not notice a list in another notation.
   */
  readonly exactJson: (
    type: ScalarType['kind'] | 'collection',
    column: Sql,
    around: (json: Sql) => Sql,
  ) => Sql;
  /** The content hash of a text (records/content-hash.ts). */
  readonly contentHash: (text: Sql, length: number) => Sql;
  /** A text encoded for a path segment; null if the engine cannot encode it. */
  readonly encodePathSegment: (text: Sql) => Sql;
  /** Any text, encoded as by `encodeURIComponent`. */
  readonly encodeForUrl: (text: Sql) => Sql;
  /** A member of a JSON object, as JSON text; null if the object does not have it. */
  readonly member: (object: Sql, name: string) => Sql;
  /** Texts, some of which may be null, as one JSON list. */
  readonly textList: (texts: readonly Sql[]) => Sql;
  /**
   * A text in the form in which the driver returns its bytes with the least work, even if a damaged row contains bytes
   * that are not text.
   */
  readonly bytes: (text: Sql) => Sql;
  /** The text of a row that contains marks of links, as `x`, or as the columns that the engine's reader joins and fills. */
  readonly markedText: (text: Sql) => Sql;
  /** Aggregates texts, joined by a character, in the order of the rows. */
  readonly aggregateTexts: (text: Sql, by?: string) => Sql;
  /** Aggregates integers, joined by commas, in the order of the rows. */
  readonly aggregateIntegers: (integer: Sql) => Sql;
  /** A statement that returns the texts `x` of rows the way the engine's reader expects them: joined, or row by row. */
  readonly selectTexts: (rows: Sql) => Sql;
  /**
   * Like `selectTexts`, for the first rows of many, with keys `k`, so that their number and the last key are also known.
   * @param areSmall whether the texts have few fields, so that a page takes little memory
   */
  readonly page: (rows: Sql, limit: number, areSmall: boolean, follows: (last: Sql) => Sql) => PageSql;
  /** Like `selectTexts`, if the reader also needs the key `k` of each row and the length of its text in bytes. */
  readonly selectRecords: (rows: Sql) => Sql;
  /** A keyword required before a table of members that refers to columns of the same FROM clause. */
  readonly lateral: Sql;
  /** A table `alias(value)` of the members of a multi-valued column. */
  readonly members: (collection: Sql, alias: string) => Sql;
  /** A table `alias(value, position)` of a bound JSON list of integers, with positions from 1. */
  readonly integerTable: (json: Sql, alias: string) => Sql;
  /**
   * The clause that returns rows joined with a list (CROSS JOIN) in the order of the list. Empty if they have this order anyway:
   * sorting would move their texts twice.
   */
  readonly inListOrder: (alias: string) => Sql;
  /** A table `alias(column, …)` of a bound JSON list of objects, whose members are named like the columns. */
  readonly objectTable: (objects: Sql, alias: string, columns: ReadonlyMap<string, ColumnKind>) => Sql;
  /**
   * A value that, computed in a transaction, announces its commit to the other processes; absent for an engine that
   * cannot announce commits.
   */
  readonly announcement?: Sql;
  /** Whether a value is one of the texts. */
  readonly oneOf: (value: Sql, texts: readonly string[]) => Sql;
  /** A LIMIT of a bound number, such that the plan of the statement does not depend on the number. */
  readonly limit: (most: Sql) => Sql;
  /** A clause required before OFFSET if there is no LIMIT. */
  readonly noLimit: Sql;
  /**
   * Whether the engine sorts the rows of each value separately when it reads an index backwards for a descending order: they are
   * then requested in groups, in the order of the index.
   */
  readonly sortsTies: boolean;
  /** Whether the engine reads the rows that an index finds in the order of the table. */
  readonly sortsLookups: boolean;
  /** An ORDER BY term in which null is the lowest value. */
  readonly order: (value: Sql, descending: boolean) => Sql;
  readonly call: (name: FunctionName, argumentsOf: readonly Sql[], types: readonly ValueType[]) => Sql;
  readonly cast: (from: ValueType, to: ValueType, value: Sql) => Sql;
  readonly matches: (text: Sql, pattern: string, ignoreCase: boolean) => Sql;
  readonly like: (text: Sql, pattern: readonly LikePart[]) => Sql;
  /** Whether the texts satisfy a search; absent if the engine has no function for this. */
  readonly satisfies?: (texts: Sql, search: Search) => Sql;
  /**
   * Selects the ids of the records that may contain the words, from a word index: all that do, and possibly others. Absent or
   * undefined if the resource has no word index.
   */
  readonly idsWithWords?: (layout: ResourceLayout, query: WordQuery) => Sql | undefined;
  /**
   * Finds, as `key`, records for which the word index has missing or surplus entries, and repairs them. Absent or undefined if the
   * resource has no word index.
   */
  readonly wordIndex?: (
    layout: ResourceLayout,
  ) => { readonly find: Sql; readonly mend: readonly Sql[] } | undefined;
  /**
   * The condition that two rows have the same originating system, so that the engine searches only one partition. Absent or
   * undefined if this does not narrow the search.
   */
  readonly sameSystem?: (layout: ResourceLayout, alias: string, other: string) => Sql | undefined;
  /**
   * Whether a point lies in a polygon or on its border; null if a coordinate is null.
   * @param ring longitude, latitude, longitude, latitude, …
   */
  readonly within: (latitude: Sql, longitude: Sql, ring: readonly number[]) => Sql;
  /** Marks a condition as selective, for an engine that would otherwise estimate that it is not. */
  readonly selective: (condition: Sql) => Sql;
  /**
   * Arithmetic of numbers, in which `div` is the division of integers. A result beyond the range of numbers is null, and so is a
   * division by zero.
   */
  readonly operations: Readonly<Record<ArithmeticOperator, (left: Sql, right: Sql) => Sql>>;
  /** Whether columns can only contain values of their types, so that no statement fails on another value. */
  readonly hasTypes: boolean;
  /** Whether a text that is not null is the JSON of a list of texts. */
  readonly isList: (text: Sql) => Sql;
  /**
   * A condition that fails the statement once its time is up: for statements that search a row for each of many values, and for
   * statements over many rows, by their ids. Undefined if the engine enforces the limit itself.
   */
  readonly deadline: { readonly ofValues: Sql; readonly ofRows: (id: Sql) => Sql } | undefined;
  /**
   * For an engine whose driver keeps what it passes to functions in memory until the statement returns a row. Absent if nothing is
   * kept.
   */
  readonly kept?: {
    /** Whether evaluating a condition calls functions. */
    readonly by: (condition: Sql) => boolean;
    /** Whether so much is kept that the statement should return a row, even if the one with this id does not match. */
    readonly isMuch: (id: Sql) => Sql;
  };
}

/**
 * An engine's own part of a dialect: tables of its functions, casts and JSON texts, from which `dialectOf` makes the operations.
 */
interface EngineDialect extends Omit<Dialect, 'call' | 'cast' | 'json' | 'computed' | 'literal'> {
  readonly calls: EngineFunctions;
  readonly casts: EngineCasts;
  readonly forms: JsonForms;
  /** The forms of computed values that differ from those of columns. */
  readonly computedForms: Partial<JsonForms>;
}

export const dialectOf = ({ calls, casts, forms, computedForms, ...engine }: EngineDialect): Dialect => ({
  ...engine,
  call: makeCall(calls),
  cast: makeCast(casts, engine.nullOf),
  json: makeJson(forms),
  computed: makeJson({ ...forms, ...computedForms }),
  // Columns contain timestamps without the Z, so that shorter ones sort before longer ones.
  literal: (type, value) =>
    bind(type === 'timestamp' && typeof value === 'string' ? value.replace(/Z$/, '') : value),
});

/** The dialect for rows that may be damaged: a value that should be a list but is not counts as a list of one empty text. */
export const tolerateDamage = memoizePerObject(
  (dialect: Dialect): Dialect => ({
    ...dialect,
    members: (list, alias) =>
      dialect.members(sql`CASE WHEN NOT ${dialect.isList(list)} THEN '[""]' ELSE ${list} END`, alias),
  }),
);
