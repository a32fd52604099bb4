import {
  type EngineCasts,
  type EngineFunctions,
  type JsonForms,
  WHITE_SPACE,
  wildcardText,
} from '../../compile/calls.ts';
import { dialectOf } from '../../compile/dialect.ts';
import {
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
import { ROWS_PER_LOOK } from '../../compile/search.ts';
import type { ScalarType } from '../../dictionary/index.ts';
import { idsWithWords, wordIndex } from './word-index.ts';

const quoted = (value: Sql): Sql => sql`json_quote(${value})`;

const forms: JsonForms = {
  string: quoted,
  date: quoted,
  boolean: (value) => sql`CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END`,
  integer: (value) => sql`coalesce(CAST(${value} AS INTEGER), 'null')`,
  decimal: (value) =>
    sql`coalesce(CASE typeof(${value}) WHEN 'real' THEN plat_number_text(${value}) ELSE ${value} END, 'null')`,
  seconds: (value) => value,
};

const computedNumber = (value: Sql): Sql => sql`coalesce(plat_number(${value}), 'null')`;

const computedForms: Partial<JsonForms> = {
  integer: computedNumber,
  decimal: computedNumber,
  seconds: (value) => sql`plat_number(round(${value}, 6))`,
};

/**
 * Makes the statement fail for a value of a type that no writer stores, as in a damaged row. Texts sort before blobs, which is the
 * cheapest way to distinguish them from blobs and nulls.
 */
function exactJson(type: ScalarType['kind'] | 'collection', value: Sql, around: (json: Sql) => Sql): Sql {
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
 * A number as JavaScript writes it, in its shortest form. A text of at most 15 digits that equals the number is the shortest,
 * unless it has a fraction of zero or an exponent; all others need a JavaScript function, which is slower.
 */
const realText = (value: Sql): Sql =>
  sql`CASE WHEN abs(${value}) BETWEEN 0.001 AND 1e14 AND length(CAST(${value} AS TEXT)) <= 16 AND CAST(CAST(${value} AS TEXT) AS REAL) = ${value} AND CAST(${value} AS INTEGER) <> ${value} THEN CAST(${value} AS TEXT) ELSE plat_number_text(${value}) END`;

const whole = (value: Sql): Sql => sql`CAST(${value} AS INTEGER)`;

const calls: EngineFunctions = {
  contains: (text, part) => sql`(instr(${text}, ${part}) > 0)`,
  startswith: (text, start) => sql`(instr(${text}, ${start}) = 1)`,
  length: (text) => sql`length(${text})`,
  indexof: (text, part) => sql`(instr(${text}, ${part}) - 1)`,
  // A call of JavaScript copies the text twice. SQLite's own functions know ASCII only.
  asciiInCase: (to, text) =>
    sql`CASE WHEN length(${text}) = octet_length(${text}) THEN ${{ parts: [to] }}(${text}) END`,
  trim: (text) => sql`trim(${text}, ${WHITE_SPACE})`,
  digits: (text, from, length) => whole(sql`substr(${text}, ${bind(from)}, ${bind(length)})`),
  fraction: (text, from) => sql`CAST('0' || substr(${text}, ${bind(from)}) AS REAL)`,
  dayofyear: (date) => whole(sql`strftime('%j', ${date})`),
  dayofweek: (date) => whole(sql`strftime('%w', ${date})`),
  totaloffsetminutes: (moment) => sql`CASE WHEN ${moment} IS NOT NULL THEN 0 END`,
  round: (number) => sql`round(${number})`,
  floor: (number) => sql`floor(${number})`,
  ceiling: (number) => sql`ceil(${number})`,
};

const casts: EngineCasts = {
  fromText: (to, value) => sql`plat_cast(${value}, ${bind(to)})`,
  fromNull: (_, value) => value,
  text: (from, value) =>
    from === 'boolean' ? sql`CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END` : value,
  whole,
};

/** The two literals are the infinities. */
const finite = (number: Sql): Sql => sql`nullif(nullif(${number}, 9e999), -9e999)`;

/** The texts of a response joined to one value, which the driver returns as bytes. */
const JOINED = sql`CAST(group_concat(x, ',') AS BLOB)`;

/** SQLite plans a statement again at each execution if its plan may depend on a bound value, such as a bare limit. */
const limit = (most: Sql): Sql => sql` LIMIT ${most} + 0`;

export const sqliteDialect = dialectOf({
  name: 'sqlite',
  placeholder: () => '?',
  nullOf: () => sql`NULL`,
  ...{ calls, casts, forms, computedForms },
  exactJson,
  contentHash: (text, length) => sql`substr(plat_sha256(${text}), 1, ${integer(length)})`,
  encodePathSegment: (text) => sql`plat_in_path(${text})`,
  encodeForUrl: (text) => sql`plat_in_path(${text})`,
  member: (object, member) => sql`(${object} -> ${constantText(member)})`,
  textList: (texts) => {
    const list = texts.map((text) => sql`CAST(${text} AS TEXT)`);
    return sql`json_array(${join(list, ', ')})`;
  },
  bytes: (text) => sql`CAST(${text} AS BLOB)`,
  markedText: (text) => sql`${text} AS x`,
  aggregateTexts: (text, by = ',') => sql`group_concat(${text}, ${constantText(by)})`,
  aggregateIntegers: (number) => sql`group_concat(${number}, ',')`,
  selectTexts: (rows) => sql`SELECT ${JOINED} AS body, count(*) AS n FROM (${rows}) q`,
  page: (rows, most, _, follows) => ({
    page: sql`SELECT ${JOINED} AS body, count(*) AS n, max(k) AS last FROM (${rows}${limit(bind(most))}) q`,
    more: follows(slot('last-key')),
  }),
  selectRecords: (rows) =>
    sql`SELECT ${JOINED} AS body, json_group_array(CAST(k AS TEXT)) AS keys, json_group_array(octet_length(x)) AS sizes FROM (${rows}) q`,
  lateral: sql``,
  hasTypes: false,
  isList: (text) => sql`json_valid(${text})`,
  members: (collection, alias) => sql`json_each(${collection}) ${name(alias)}`,
  integerTable: (values, alias) =>
    sql`(SELECT value, key + 1 AS position FROM json_each(${values})) ${name(alias)}`,
  // The list is the outer loop, so its members come in order.
  inListOrder: () => sql``,
  objectTable: (objects, alias, columns) => {
    const members = [...columns.keys()].map((key) => sql`value ->> ${constantText(key)} AS ${name(key)}`);
    return sql`(SELECT ${join(members, ', ')} FROM jsonb_each(${objects})) AS ${name(alias)}`;
  },
  oneOf: (value, texts) => sql`${value} IN (SELECT value FROM json_each(${bindTexts(texts)}))`,
  noLimit: sql` LIMIT -1`,
  limit,
  sortsTies: true,
  sortsLookups: false,
  order: (value, descending) => (descending ? sql`${value} DESC` : value),
  matches: (text, pattern, ignoreCase) =>
    sql`plat_matches(${text}, ${bind(pattern)}, ${bind(ignoreCase ? 1 : 0)})`,
  // GLOB has the same two wildcards; brackets escape them.
  like: (text, pattern) =>
    sql`(${text} GLOB ${bind(wildcardText(pattern, { any: '*', one: '?', special: /[*?[]/g, escaped: '[$&]' }))})`,
  satisfies: (texts, search) => sql`plat_satisfies(${texts}, ${bind(JSON.stringify(search))})`,
  idsWithWords,
  wordIndex,
  within: (latitude, longitude, ring) =>
    sql`plat_within(${latitude}, ${longitude}, ${bind(JSON.stringify(ring))})`,
  selective: (condition) => sql`likelihood(${condition}, 0.001)`,
  operations: {
    add: (left, right) => finite(sql`${left} + ${right}`),
    sub: (left, right) => finite(sql`${left} - ${right}`),
    mul: (left, right) => finite(sql`${left} * ${right}`),
    div: (left, right) => sql`(${whole(left)} / nullif(${whole(right)}, 0))`,
    divby: (left, right) => finite(sql`CAST(${left} AS REAL) / nullif(${right}, 0)`),
    mod: (left, right) => sql`mod(${left}, nullif(${right}, 0))`,
  },
  deadline: {
    ofValues: sql`plat_deadline()`,
    ofRows: (id) => sql`(${id} % ${integer(ROWS_PER_LOOK)} <> 0 OR plat_deadline())`,
  },
  kept: {
    by: ({ parts }) => parts.some((part) => typeof part === 'string' && /\bplat_(?!deadline\b)/.test(part)),
    isMuch: (id) => sql`(${id} % ${integer(ROWS_PER_LOOK)} = 0 AND plat_keeps_much())`,
  },
});
