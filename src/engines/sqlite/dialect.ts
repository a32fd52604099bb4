import type { Dialect } from '../../compile/dialect.ts';
import {
  type BoundValue,
  bind,
  bindTexts,
  constantText,
  integer,
  join,
  name,
  type Sql,
  slot,
  sql,
} from '../../compile/fragment.ts';
import type { ScalarType } from '../../dictionary/index.ts';
import type { FunctionName, LikePart, ValueType } from '../../query/tree.ts';
import { withWords, wordIndex } from './word-index.ts';

/** Characters that trim takes away: all that Unicode calls white space. */
const WHITE_SPACE = bind(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

function literal(type: ValueType, value: BoundValue): Sql {
  if (type === 'timestamp' && typeof value === 'string') return bind(value.replace(/Z$/, ''));
  if (typeof value === 'boolean') return bind(value ? 1 : 0);
  return bind(value);
}

function json(type: ValueType | 'collection', value: Sql): Sql {
  switch (type) {
    case 'string':
    case 'date':
    case 'time':
      return sql`json_quote(${value})`;
    case 'timestamp':
      return sql`coalesce('"' || ${value} || 'Z"', 'null')`;
    case 'boolean':
      return sql`CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END`;
    case 'integer':
      return sql`coalesce(CAST(${value} AS INTEGER), 'null')`;
    case 'decimal':
      return sql`coalesce(${value}, 'null')`;
    case 'duration':
      return sql`coalesce('"PT' || ${value} || 'S"', 'null')`;
    case 'collection':
      return sql`coalesce(${value}, '[]')`;
    case 'null':
    case 'point':
    case 'polygon':
      return sql`'null'`;
  }
}

/**
 * A value of another type than a writer stores makes the statement fail, as what lies in a damaged row may. Texts sort
 * before bytes, which is the cheapest way to tell them apart from those and from null.
 */
function written(type: ScalarType['kind'] | 'collection', value: Sql, around: (json: Sql) => Sql): Sql {
  const failing = around(sql`json_quote(CAST(${value} AS BLOB))`);
  const texts = (json: Sql): Sql =>
    sql`CASE WHEN ${value} < x'' THEN ${around(json)} WHEN ${value} IS NOT NULL THEN ${failing} END`;
  switch (type) {
    case 'string':
    case 'date':
      return texts(sql`json_quote(CAST(${value} AS TEXT))`);
    case 'timestamp':
      return texts(sql`json_quote(${value} || 'Z')`);
    case 'collection':
      return texts(value);
    case 'boolean':
      return sql`CASE ${value} WHEN 1 THEN ${around(sql`'true'`)} WHEN 0 THEN ${around(sql`'false'`)} ELSE CASE WHEN ${value} IS NOT NULL THEN ${failing} END END`;
    case 'integer':
    case 'decimal': {
      const number = sql`CASE typeof(${value}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${realText(value)} ELSE json_quote(CAST(${value} AS BLOB)) END`;
      return sql`CASE WHEN ${value} IS NOT NULL THEN ${around(number)} END`;
    }
  }
}

/**
 * A number as JavaScript writes it, which is its shortest text. A text of at most 15 digits that is the number is that, but
 * for a fraction of zero and an exponent; the function, which leaves the engine, is for the others.
 */
const realText = (value: Sql): Sql =>
  sql`CASE WHEN abs(${value}) BETWEEN 0.001 AND 1e14 AND length(CAST(${value} AS TEXT)) <= 16 AND CAST(CAST(${value} AS TEXT) AS REAL) = ${value} AND CAST(${value} AS INTEGER) <> ${value} THEN CAST(${value} AS TEXT) ELSE plat_number_text(${value}) END`;

function computed(type: ValueType, value: Sql): Sql {
  switch (type) {
    case 'integer':
    case 'decimal':
      return sql`coalesce(plat_number(${value}), 'null')`;
    case 'duration':
      return sql`coalesce('"PT' || plat_number(round(${value}, 6)) || 'S"', 'null')`;
    default:
      return json(type, value);
  }
}

const whole = (value: Sql): Sql => sql`CAST(${value} AS INTEGER)`;
const part = (value: Sql, from: number, length: number): Sql =>
  whole(sql`substr(${value}, ${bind(from)}, ${bind(length)})`);

/** Where the clock time begins in the text of a value: a time has no date before it. */
const clock = (type: ValueType | undefined): number => (type === 'time' ? 1 : 12);

/** Nearly every start is a number that is not negative, which SQLite's own function serves. */
function substring(text: Sql, start: Sql, count: Sql | undefined): Sql {
  const [from, more] = start.parts;
  const known = typeof from === 'object' && more === undefined ? from.bound : undefined;
  if (typeof known !== 'number' || known < 0) {
    return sql`plat_substring(${text}, ${start}, ${count ?? sql`9e15`})`;
  }
  const first = whole(bind(known + 1));
  return count === undefined
    ? sql`substr(${text}, ${first})`
    : sql`substr(${text}, ${first}, max(${whole(count)}, 0))`;
}

/** No argument is written twice, or functions inside functions would double the statement at each level. */
function call(fn: FunctionName, given: readonly Sql[], types: readonly ValueType[]): Sql {
  const [first = sql`NULL`, second = sql`NULL`, third] = given;
  const at = clock(types[0]);
  switch (fn) {
    case 'contains':
      return sql`(instr(${first}, ${second}) > 0)`;
    case 'startswith':
      return sql`(instr(${first}, ${second}) = 1)`;
    case 'endswith':
      return sql`plat_ends_with(${first}, ${second})`;
    case 'length':
      return sql`length(${first})`;
    case 'indexof':
      return sql`(instr(${first}, ${second}) - 1)`;
    case 'substring':
      return substring(first, second, third);
    case 'tolower':
      return sql`plat_lower(${first})`;
    case 'toupper':
      return sql`plat_upper(${first})`;
    case 'trim':
      return sql`trim(${first}, ${WHITE_SPACE})`;
    case 'concat':
      return sql`(${join(given, ' || ')})`;
    case 'year':
      return part(first, 1, 4);
    case 'month':
      return part(first, 6, 2);
    case 'day':
      return part(first, 9, 2);
    case 'hour':
      return part(first, at, 2);
    case 'minute':
      return part(first, at + 3, 2);
    case 'second':
      return part(first, at + 6, 2);
    case 'fractionalseconds':
      return sql`CAST('0' || substr(${first}, ${bind(at + 8)}) AS REAL)`;
    case 'dayofyear':
      return whole(sql`strftime('%j', ${first})`);
    case 'dayofweek':
      return whole(sql`strftime('%w', ${first})`);
    case 'date':
      return sql`substr(${first}, 1, 10)`;
    case 'time':
      return sql`substr(${first}, 12)`;
    case 'totaloffsetminutes':
      return sql`CASE WHEN ${first} IS NOT NULL THEN 0 END`;
    case 'totalseconds':
      return first;
    case 'mindatetime':
      return bind('0001-01-01T00:00:00');
    case 'maxdatetime':
      return bind('9999-12-31T23:59:59.999');
    case 'round':
      return sql`round(${first})`;
    case 'floor':
      return sql`floor(${first})`;
    case 'ceiling':
      return sql`ceil(${first})`;
    case 'now':
      throw new Error('now() is bound by the compiler');
  }
}

function cast(from: ValueType, to: ValueType, value: Sql): Sql {
  if (from === to || from === 'null') return value;
  if (from === 'string') return sql`plat_cast(${value}, ${bind(to)})`;
  switch (to) {
    case 'string':
      if (from === 'boolean') return sql`CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END`;
      if (from === 'integer' || from === 'decimal') return sql`plat_number_text(${value})`;
      return from === 'timestamp' ? sql`(${value} || 'Z')` : value;
    case 'timestamp':
      return from === 'date' ? sql`(${value} || 'T00:00:00')` : sql`NULL`;
    case 'date':
      return from === 'timestamp' ? sql`substr(${value}, 1, 10)` : sql`NULL`;
    case 'time':
      return from === 'timestamp' ? sql`substr(${value}, 12)` : sql`NULL`;
    case 'integer':
      return from === 'decimal' ? whole(value) : sql`NULL`;
    case 'decimal':
      return from === 'integer' ? value : sql`NULL`;
    case 'boolean':
    case 'duration':
    case 'point':
    case 'polygon':
    case 'null':
      return sql`NULL`;
  }
}

/** GLOB has the same two wildcards, and brackets that take their meaning away. */
function globPart(part: LikePart): string {
  switch (part.kind) {
    case 'any':
      return '*';
    case 'one':
      return '?';
    case 'text':
      return part.text.replace(/[*?[]/g, '[$&]');
  }
}

/** The texts of an answer in one value, which the driver gives as bytes. */
const JOINED = sql`CAST(group_concat(x, ',') AS BLOB)`;

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  placeholder: () => '?',
  nothing: () => sql`NULL`,
  literal,
  json,
  written,
  contentHash: (text, length) => sql`substr(plat_sha256(${text}), 1, ${integer(length)})`,
  inPath: (text) => sql`plat_in_path(${text})`,
  inUrl: (text) => sql`plat_in_path(${text})`,
  computed,
  member: (object, member) => sql`(${object} -> ${constantText(member)})`,
  joined: (text) => sql`group_concat(${text}, ',')`,
  answer: (rows) => sql`SELECT ${JOINED} AS body FROM (${rows}) q`,
  page: (rows, follows) => ({
    page: sql`SELECT ${JOINED} AS body, count(*) AS n, max(k) AS last FROM (${rows}) q`,
    more: follows(slot('last-key')),
  }),
  lateral: sql``,
  members: (collection, alias) => sql`json_each(${collection}) ${name(alias)}`,
  list: (values, alias) => sql`(SELECT value, key AS position FROM json_each(${values})) ${name(alias)}`,
  rowsOf: (objects, alias, columns) => {
    const members = [...columns.keys()].map(
      (column) => sql`value ->> ${constantText(column)} AS ${name(column)}`,
    );
    return sql`(SELECT ${join(members, ', ')} FROM json_each(${objects})) AS ${name(alias)}`;
  },
  oneOf: (value, texts) => sql`${value} IN (SELECT value FROM json_each(${bindTexts(texts)}))`,
  noLimit: sql` LIMIT -1`,
  order: (value, descending) => (descending ? sql`${value} DESC` : value),
  call,
  cast,
  shift: (_type, moment, seconds) => sql`plat_shift(${moment}, ${seconds})`,
  secondsBetween: (_type, later, earlier) => sql`plat_seconds(${later}, ${earlier})`,
  matches: (text, pattern, ignoreCase) =>
    sql`plat_matches(${text}, ${bind(pattern)}, ${bind(ignoreCase ? 1 : 0)})`,
  like: (text, pattern) => sql`(${text} GLOB ${bind(pattern.map(globPart).join(''))})`,
  hasWords: (texts, words) => sql`plat_has_words(${texts}, ${bind(words.join(' '))})`,
  withWords,
  wordIndex,
  within: (latitude, longitude, polygon) => {
    const ring = polygon.flatMap((point) => [point.longitude, point.latitude]);
    return sql`plat_within(${latitude}, ${longitude}, ${bind(JSON.stringify(ring))})`;
  },
  rare: (condition) => sql`likelihood(${condition}, 0.001)`,
  divide: (left, right, integers) =>
    integers
      ? sql`(${whole(left)} / nullif(${whole(right)}, 0))`
      : sql`(CAST(${left} AS REAL) / nullif(${right}, 0))`,
  remainder: (left, right) => sql`mod(${left}, nullif(${right}, 0))`,
  deadline: sql`plat_deadline()`,
};
