import {
  type EngineCasts,
  type EngineFunctions,
  type JsonForms,
  WHITE_SPACE,
  wildcardText,
} from '../../compile/calls.ts';
import { type Dialect, dialectOf } from '../../compile/dialect.ts';
import {
  bind,
  bindTexts,
  column,
  concatenatedTexts,
  constantText,
  integer,
  join,
  name,
  type Placeholder,
  type Slot,
  type Sql,
  sql,
} from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoredKind } from '../../compile/layout/tables.ts';
import type { ScalarType } from '../../dictionary/index.ts';
import type { ValueType } from '../../query/tree.ts';
import { serverPattern } from './pattern.ts';

/** Announces commits to the sequence of changes; the payload is the schema, since a database may have several. */
export const CHANGES_CHANNEL = 'plat_changes';

/** The type of texts, which are compared bytewise (I1). */
export const TEXT = 'text COLLATE "C"';

/** The types of columns. Numbers are those of JSON. A replica keeps a fraction even in an integer field. */
export const COLUMN_TYPES: Readonly<Record<StoredKind, string>> = {
  text: TEXT,
  number: 'double precision',
  boolean: 'boolean',
  count: 'integer',
  id: 'bigint',
};

/** Tables of listings and their parts may be partitioned. Others are not: pages of listings look up their agents. */
export const isPartitioned = ({ resource, systemSource }: ResourceLayout): boolean =>
  resource.name === 'Property' || systemSource === 'parent';

/** The slots that are bound to integers. */
const INTEGER_SLOTS: ReadonlySet<Slot> = new Set(['id', 'limit', 'position']);

/** The statement declares the type of every bound value; a null takes the type of its context. */
const placeholder: Placeholder = (position, value) => {
  if (value === null) return `$${position}`;
  if (typeof value === 'object') {
    if ('texts' in value) return `$${position}::text[]`;
    return `$${position}::${INTEGER_SLOTS.has(value.slot) ? 'bigint' : 'text'}`;
  }
  switch (typeof value) {
    case 'string':
      return `$${position}::text`;
    case 'number':
      return `$${position}::float8`;
    case 'boolean':
      return `$${position}::boolean`;
  }
};

const NOTHING: Readonly<Partial<Record<ValueType, Sql>>> = {
  integer: sql`NULL::float8`,
  decimal: sql`NULL::float8`,
  duration: sql`NULL::float8`,
  boolean: sql`NULL::boolean`,
};

const nothing = (type: ValueType): Sql => NOTHING[type] ?? sql`NULL::text`;

const quoted = (value: Sql): Sql => sql`coalesce(to_json((${value})::text)::text, 'null')`;
/** In the range in which the server writes a number as JavaScript does, its own conversion is faster. */
const numberText = (value: Sql): Sql =>
  sql`CASE WHEN abs(${value}) < 1e15 AND (abs(${value}) >= 1e-4 OR ${value} = 0) THEN (${value})::text ELSE plat_number_text(${value}) END`;
const number = (value: Sql): Sql => sql`coalesce(${numberText(value)}, 'null')`;

const forms: JsonForms = {
  ...{ string: quoted, date: quoted, integer: number, decimal: number },
  boolean: (value) => sql`coalesce((${value})::text, 'null')`,
  seconds: (value) => sql`(${value})::text`,
};

const computedNumber = (value: Sql): Sql => sql`coalesce(plat_number_text(${value}), 'null')`;

const computedForms: Partial<JsonForms> = {
  string: (value) => sql`replace(${quoted(value)}, chr(1114111), '\\u0000')`,
  integer: computedNumber,
  decimal: computedNumber,
  seconds: (value) => sql`plat_number_text(round((${value})::numeric, 6)::float8)`,
};

function exactJson(type: ScalarType['kind'] | 'collection', value: Sql, around: (json: Sql) => Sql): Sql {
  switch (type) {
    case 'string':
    case 'date':
      return around(sql`to_json(${value})::text`);
    case 'timestamp':
      return around(sql`to_json(${value} || 'Z')::text`);
    case 'boolean':
      return around(sql`${value}::text`);
    case 'collection':
      return around(value);
    case 'integer':
    case 'decimal':
      return around(numberText(value));
  }
}

/** Adding zero converts negative zero to zero. */
const whole = (value: Sql): Sql => sql`(trunc((${value})::float8) + 0)`;

/** The types that a function casts texts to. */
const READ_FROM_TEXT = new Set<ValueType>(['integer', 'decimal', 'boolean', 'date', 'timestamp', 'time']);

const calls: EngineFunctions = {
  contains: (text, part) => sql`(strpos(${text}, ${part}) > 0)`,
  startswith: (text, start) => sql`starts_with(${text}, ${start})`,
  length: (text) => sql`char_length(${text})::float8`,
  indexof: (text, part) => sql`(strpos(${text}, ${part}) - 1)::float8`,
  trim: (text) => sql`btrim(${text}, ${WHITE_SPACE})`,
  digits: (text, from, length) => sql`(substr(${text}, ${integer(from)}, ${integer(length)})::float8)`,
  fraction: (text, from) => sql`(('0' || substr(${text}, ${integer(from)}))::float8)`,
  dayofyear: (date) => sql`plat_day_of_year(${date})`,
  dayofweek: (date) => sql`plat_day_of_week(${date})`,
  totaloffsetminutes: (moment) => sql`CASE WHEN ${moment} IS NOT NULL THEN 0::float8 END`,
  round: (number) => sql`plat_round(${number})`,
  floor: (number) => sql`(floor((${number})::float8) + 0)`,
  ceiling: (number) => sql`(ceil((${number})::float8) + 0)`,
};

const casts: EngineCasts = {
  fromText: (to, value) =>
    READ_FROM_TEXT.has(to) ? sql`${{ parts: [`plat_text_${to}`] }}(${value})` : nothing(to),
  fromNull: nothing,
  text: (_, value) => sql`(${value})::text`,
  whole,
};

/** ORDER BY interprets a bare constant as the number of a column, or rejects it. */
function ordered(value: Sql): Sql {
  const isConstant = value.parts.every((part) => typeof part === 'string' && /^[A-Z0-9() ]*$/.test(part));
  return isConstant ? sql`(SELECT ${value})` : value;
}

/** The characters that `encodeURIComponent` does not encode; few keys contain others. */
const PLAIN_IN_URL = "[A-Za-z0-9_.!~*''()-]";

/** A list of texts as `JSON.stringify` writes it. */
const TEXT_IN_LIST = '"([^"\\\\\\u0001-\\u001f]|\\\\["\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*"';
const LIST = `^\\[(${TEXT_IN_LIST}(,${TEXT_IN_LIST})*)?\\]$`;

/** PostgreSQL returns at most 1664 columns, and a page has some in addition to its text. */
const MOST_COLUMNS = 1600;

export const postgresDialect = dialectOf({
  name: 'postgres',
  placeholder,
  nullOf: nothing,
  ...{ calls, casts, forms, computedForms },
  exactJson,
  contentHash: (text, length) =>
    sql`left(translate(encode(sha256(convert_to(${text}, 'UTF8')), 'base64'), '+/', '-_'), ${integer(length)})`,
  encodePathSegment: (text) => sql`CASE WHEN ${text} !~ '[^A-Za-z0-9_.-]' THEN ${text} END`,
  encodeForUrl: (text) =>
    sql`CASE WHEN ${text} ~ '^${{ parts: [PLAIN_IN_URL] }}*$' THEN ${text} ELSE plat_encode(${text}, '${{ parts: [PLAIN_IN_URL] }}') END`,
  member: (object, member) => sql`((${object})::json -> ${constantText(member)})::text`,
  textList: (texts) => ({ ...sql`json_build_array(${join(texts, ', ')})`, texts }),
  bytes: (text) => text,
  // Joining the texts of a record costs the server a third of the time of a page, and this process next to nothing.
  markedText: (text) => {
    const texts = concatenatedTexts(text);
    return texts.length <= MOST_COLUMNS ? join(texts, ', ') : sql`${text} AS x`;
  },
  aggregateTexts: (text, by = ',') => sql`string_agg(${text}, ${constantText(by)})`,
  aggregateIntegers: (number) => sql`string_agg(CAST(${number} AS TEXT), ',')`,
  selectTexts: (rows) => rows,
  // The process reads large rows one by one, and omits the one that shows that more follow. For small rows, joining them on the
  // server costs less than the driver's overhead per row.
  page: (rows, limit, areSmall, follows) =>
    areSmall
      ? {
          page: sql`SELECT a.*, (${follows(sql`a.last`)}) AS more FROM (SELECT string_agg(p.x, ',') AS x, count(*) AS n, max(p.k) AS last FROM (${rows} LIMIT ${bind(limit)}) p) a`,
          isJoined: true,
        }
      : { page: sql`${rows} LIMIT ${bind(limit + 1)}` },
  selectRecords: (rows) => rows,
  lateral: sql`LATERAL `,
  hasTypes: true,
  isList: (text) => sql`(${text} ~ ${constantText(LIST)})`,
  members: (collection, alias) =>
    sql`(SELECT value COLLATE "C" AS value FROM json_array_elements_text((${collection})::json)) ${name(alias)}`,
  integerTable: (values, alias) =>
    sql`unnest(translate(${values}, '[]', '{}')::bigint[]) WITH ORDINALITY ${name(alias)}(value, position)`,
  // The planner knows that plain positions, without arithmetic, are in order, and does not sort.
  inListOrder: (alias) => sql` ORDER BY ${column(alias, 'position')}`,
  announcement: sql`pg_notify(${constantText(CHANGES_CHANNEL)}, current_schema()::text)`,
  objectTable: (objects, alias, columns) => {
    const typed = [...columns].map(([key, kind]) => sql`${name(key)} ${{ parts: [COLUMN_TYPES[kind]] }}`);
    return sql`json_to_recordset(${objects}::json) AS ${name(alias)}(${join(typed, ', ')})`;
  },
  oneOf: (value, texts) => sql`${value} = ANY(${bindTexts(texts)})`,
  limit: (most) => sql` LIMIT ${most}`,
  noLimit: sql``,
  sortsTies: false,
  sortsLookups: true,
  order: (value, descending) =>
    descending ? sql`${ordered(value)} DESC NULLS LAST` : sql`${ordered(value)} NULLS FIRST`,
  matches: (text, pattern, ignoreCase) =>
    sql`((${text}) COLLATE "C" ~ ${bind(serverPattern(pattern, ignoreCase))})`,
  like: (text, pattern) =>
    sql`(${text} LIKE ${bind(wildcardText(pattern, { any: '%', one: '_', special: /[%_\\]/g, escaped: '\\$&' }))})`,
  within: (latitude, longitude, ring) =>
    sql`plat_within(${latitude}, ${longitude}, ${bind(`{${ring.join()}}`)}::float8[])`,
  selective: (condition) => condition,
  operations: {
    add: (left, right) => sql`plat_add(${left}, ${right})`,
    sub: (left, right) => sql`plat_subtract(${left}, ${right})`,
    mul: (left, right) => sql`plat_multiply(${left}, ${right})`,
    div: (left, right) => whole(sql`${whole(left)} / nullif(${whole(right)}, 0)`),
    divby: (left, right) => sql`plat_divide(${left}, ${right})`,
    mod: (left, right) => sql`plat_mod(${left}, ${right})`,
  },
  deadline: undefined,
});

/** The dialect of a store with partitions: a join to a row searches only the partition of that row. */
export const partitionedDialect: Dialect = {
  ...postgresDialect,
  sameSystem: (layout, alias, other) => {
    if (!isPartitioned(layout)) return undefined;
    const [here, there] = [column(alias, '_system'), column(other, '_system')];
    return sql`(${here} = ${there} OR (${here} IS NULL AND ${there} IS NULL))`;
  },
};
