/**
 * The texts and the content hash that a writer derives from the columns of a row, as SQL. Both use the same tables as the writer
 * (members.ts, native-parts.ts, records/content-hash.ts). If the engine cannot compute a text exactly, the SQL is null or fails; it
 * never yields a text that the writer would not have written.
 */

import { type Field, MEDIA_KINDS } from '../../dictionary/index.ts';
import {
  ASSIGNED_TIMESTAMP,
  type HashedField,
  type HashForm,
  hashForms,
} from '../../records/content-hash.ts';
import { KIND_OF_CATEGORY } from '../../records/media.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import type { Dialect } from '../dialect.ts';
import { all, bind, column, concat, constantText, integer, join, type Sql, sql } from '../fragment.ts';
import { ownColumn, PUBLISHED_RESOURCES, type ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { isAddress, type NamedField, type TextPlan, textPlans, URL_MARK } from './members.ts';
import {
  endOf,
  LISTING_PATH,
  MEDIA_FORMS,
  PART_FORMS,
  type PartForm,
  type PartMember,
  PLAN_FORM,
  UNBRANDED,
} from './native-parts.ts';

/**
 * A row of a resource to be checked: the alias of its columns, and the version of the profile with which its texts were written.
 */
export interface CheckedRow {
  readonly dialect: Dialect;
  readonly model: StoreModel;
  readonly layout: ResourceLayout;
  readonly alias: string;
  readonly version: Sql;
}

const NOTHING = sql`NULL`;

/** The column of a field. Standard columns contain an empty text instead of null. */
export const columnOf = (
  { layout: { resource }, alias }: Pick<CheckedRow, 'layout' | 'alias'>,
  field: Field,
): Sql => column(alias, ownColumn(resource, field) ?? field.name);

const fieldOf = ({ layout }: CheckedRow, name: string): Field | undefined =>
  layout.fields.find((field) => field.name === name);

/** The column of a field, or null if the field is not in use. */
export function columnNamed(row: CheckedRow, name: string): Sql {
  const field = fieldOf(row, name);
  return field === undefined ? NOTHING : columnOf(row, field);
}

const unchanged = (json: Sql): Sql => json;

/** A value as JavaScript writes it in JSON, with `around` applied; null if there is none. */
const jsonOf = (row: CheckedRow, field: Field, around = unchanged): Sql =>
  row.dialect.exactJson(field.collection ? 'collection' : field.type.kind, columnOf(row, field), around);

function jsonNamed(row: CheckedRow, name: string, around = unchanged): Sql | undefined {
  const field = fieldOf(row, name);
  return field === undefined ? undefined : jsonOf(row, field, around);
}

const jsonOr = (row: CheckedRow, name: string, otherwise: string): Sql => {
  const json = jsonNamed(row, name);
  return json === undefined ? constantText(otherwise) : sql`coalesce(${json}, ${constantText(otherwise)})`;
};

/** The mark of a served file, as the texts contain it. */
const MARK = bind(`"${URL_MARK}"`);

/** Every column of ready texts, with the text that it should contain. */
export function expectedTexts(row: CheckedRow): (readonly [string, Sql])[] {
  return [
    ...nativeTexts(row),
    ...textPlans(row.layout).flatMap((plan): (readonly [string, Sql])[] => [
      [plan.valuesColumn, expectedValues(row, plan)],
      [plan.nullsColumn, expectedNulls(row, plan)],
    ]),
  ];
}

/** Fields that came into use after a text was written have no value in its row (consistent-rows.ts), so they need no test. */
function expectedValues(row: CheckedRow, { fields, first }: TextPlan): Sql {
  const file = column(row.alias, '_file');
  return concat(
    fields.map(({ field, beginning }, index) => {
      const name = constantText(first && index === 0 ? beginning.slice(1) : beginning);
      return jsonOf(row, field, (json) =>
        isAddress(field)
          ? sql`${name} || CASE WHEN ${file} IS NULL THEN ${json} ELSE ${MARK} END`
          : sql`${name} || ${json}`,
      );
    }),
  );
}

/** A text of an older version lacks the nulls of fields that came into use later. */
function expectedNulls({ layout, ...row }: CheckedRow, { fields }: TextPlan): Sql {
  const texts: Sql[] = [];
  for (let at = 0; at < fields.length; ) {
    const since = sinceOf(fields[at]);
    const end = fields.findIndex((each, index) => index > at && sinceOf(each) !== since);
    const run = fields.slice(at, end < 0 ? fields.length : end);
    const members = run.map(
      ({ field, absent }) =>
        sql`CASE WHEN ${columnOf({ layout, ...row }, field)} IS NULL THEN ${constantText(absent)} END`,
    );
    if (since <= 1) texts.push(...members);
    else texts.push(sql`CASE WHEN ${row.version} >= ${integer(since)} THEN ${concat(members)} END`);
    at += run.length;
  }
  return concat(texts);

  function sinceOf(named: NamedField | undefined): number {
    return named === undefined ? 0 : layout.since(named.field);
  }
}

function nativeTexts(row: CheckedRow): (readonly [string, Sql])[] {
  const { resource } = row.layout;
  if (resource.name === 'Property') {
    const path = sql`${constantText(`,"ResourceUri":"${LISTING_PATH}`)} || ${inPath(row, '_key')} || '"'`;
    return [['native_head', sql`'"Id":' || ${keyJson(row)} || ${path}`]];
  }
  if (resource.parent === undefined) return [];
  if (resource.name !== 'Media') {
    const form = PART_FORMS.get(resource.name);
    return [
      ['native_text', form === undefined ? sql`''` : formText(row, form)],
      ['native_plan_text', sql`''`],
    ];
  }
  const kinds = MEDIA_KINDS.flatMap((kind) => {
    const form = MEDIA_FORMS[kind];
    return form === undefined ? [] : [sql`WHEN ${constantText(kind)} THEN ${formText(row, form)}`];
  });
  const kind = column(row.alias, '_kind');
  return [
    ['native_text', sql`CASE ${kind} ${join(kinds, ' ')} ELSE '' END`],
    ['native_plan_text', sql`CASE WHEN ${kind} = 'plan' THEN ${formText(row, PLAN_FORM)} ELSE '' END`],
  ];
}

const keyJson = (row: CheckedRow): Sql =>
  row.dialect.exactJson('string', column(row.alias, '_key'), unchanged);

const inPath = ({ dialect, alias }: CheckedRow, own: '_key' | '_parent'): Sql =>
  dialect.encodePathSegment(column(alias, own));

/** A text that the engine may be unable to compute, so that it is null. */
interface ExpectedMember {
  readonly json: Sql;
  /** The condition under which the engine can compute the text; absent: always. */
  readonly isKnown?: Sql;
}

function formText(row: CheckedRow, form: PartForm): Sql {
  const members = Object.entries(form.members).map(([name, member]) => ({
    name,
    ...expectedMember(row, member),
  }));
  const parts = members.flatMap(({ name, json }) => [constantText(`,"${name}":`), json]);
  const begin = concat([
    constantText('{"Id":'),
    keyJson(row),
    constantText(`,"ResourceUri":"${LISTING_PATH}`),
  ]);
  const path = sql`${inPath(row, '_parent')} || ${constantText(`/${form.part}/`)} || ${inPath(row, '_key')}`;
  const text = sql`${begin} || ${path} || ${concat([constantText('"'), ...parts, constantText(endOf(form))])}`;
  const known = members.flatMap(({ isKnown }) => isKnown ?? []);
  return known.length === 0 ? sql`(${text})` : sql`CASE WHEN ${all(known)} THEN ${text} END`;
}

function expectedMember(row: CheckedRow, member: PartMember): ExpectedMember {
  switch (member.kind) {
    case 'key':
      return { json: keyJson(row) };
    case 'text':
      return { json: jsonOr(row, member.field, 'null') };
    case 'flag':
      return { json: jsonOr(row, member.field, 'false') };
    case 'list':
      return { json: jsonOr(row, member.field, '[]') };
    case 'constant':
      return { json: constantText(JSON.stringify(member.value)) };
    case 'address': {
      const url = jsonOr(row, 'MediaURL', 'null');
      return { json: sql`CASE WHEN ${column(row.alias, '_file')} IS NULL THEN ${url} ELSE ${MARK} END` };
    }
    case 'branding': {
      const begin = sql`substr(${columnNamed(row, 'MediaCategory')}, 1, ${integer(UNBRANDED.length)})`;
      const isUnbranded = sql`${begin} = ${constantText(UNBRANDED)}`;
      return { json: sql`CASE WHEN ${isUnbranded} THEN '"unbranded"' ELSE '"branded"' END` };
    }
    case 'privacy':
      return { json: sql`'"Public"'`, isKnown: sql`${columnNamed(row, 'Permission')} IS NULL` };
    case 'day': {
      const [date, moment] = [columnNamed(row, member.date), columnNamed(row, member.moment)];
      return { json: sql`'null'`, isKnown: sql`(${date} IS NULL AND ${moment} IS NULL)` };
    }
    case 'clock':
      return { json: sql`'null'`, isKnown: sql`${columnNamed(row, member.field)} IS NULL` };
    case 'named': {
      const named = [...member.labels].flatMap(([name, shown]) => {
        const begin = constantText(`,{${JSON.stringify(shown)}:`);
        return jsonNamed(row, name, (json) => sql`${begin} || ${json} || '}'`) ?? [];
      });
      return { json: named.length === 0 ? sql`'[]'` : sql`concat('[', substr(${concat(named)}, 2), ']')` };
    }
  }
}

/** The kind of a medium; null for resources other than Media. */
export function expectedKind(row: CheckedRow): Sql {
  if (row.layout.resource.name !== 'Media') return NOTHING;
  if (fieldOf(row, 'MediaCategory') === undefined) return sql`'photo'`;
  const category = columnNamed(row, 'MediaCategory');
  const kinds = [...KIND_OF_CATEGORY].map(
    ([name, kind]) => sql`WHEN ${constantText(name)} THEN ${constantText(kind)}`,
  );
  return sql`CASE ${category} ${join(kinds, ' ')} ELSE CASE WHEN ${category} IS NULL THEN 'photo' ELSE 'other' END END`;
}

/**
 * Whether the stored path of a served file matches the address. False if the address clearly is neither a path nor an absolute URL.
 */
export function isExpectedFile(row: CheckedRow): Sql {
  const file = column(row.alias, '_file');
  if (fieldOf(row, 'MediaURL') === undefined) return sql`${file} IS NULL`;
  const url = columnNamed(row, 'MediaURL');
  const isElsewhere = sql`(substr(${url}, 1, 8) = 'https://' OR substr(${url}, 1, 7) = 'http://')`;
  const isHere = sql`(${url} <> '' AND replace(${url}, ':', '') = ${url} AND substr(${url}, 1, 2) <> '//')`;
  return sql`CASE WHEN ${url} IS NULL OR ${isElsewhere} THEN ${file} IS NULL WHEN ${isHere} THEN ${file} = ${url} ELSE FALSE END`;
}

/**
 * The parts of the content hash that come from the parent: its originating system, and its key, which is null if the parent is
 * unknown.
 */
interface KnownParent {
  readonly key: Sql;
  readonly system: Sql;
}

/** The content hash of the columns. It omits fields that are no longer declared. */
export function expectedHash(row: CheckedRow, parent: KnownParent | undefined): Sql {
  const { dialect, layout, model, alias } = row;
  const { resource } = layout;
  const isPublished = PUBLISHED_RESOURCES.has(resource.name);
  const owner = isPublished ? 'authority' : model.settings.owner;
  const isLeftOut = (name: string): boolean =>
    name === ASSIGNED_TIMESTAMP && (isPublished || returnsOwnTimestamps(model.settings));
  const memberOf = ({ name, follows }: HashedField): Sql[] => {
    const begin = constantText(`${name}\n`);
    const text = jsonNamed(row, name, (json) => sql`${begin} || ${json} || ${constantText('\n')}`);
    if (text === undefined || isLeftOut(name)) return [];
    if (follows === undefined) return [text];
    const value = columnNamed(row, name);
    if (follows === 'key') {
      return [sql`CASE WHEN ${value} = ${columnNamed(row, 'ResourceRecordKey')} THEN NULL ELSE ${text} END`];
    }
    if (parent === undefined) return [];
    return [sql`CASE WHEN ${parent.key} IS NULL OR ${value} = ${parent.system} THEN NULL ELSE ${text} END`];
  };
  const hashAs = ({ list, length }: HashForm): Sql =>
    dialect.contentHash(concat(list.flatMap(memberOf)), length);
  const { form, former } = hashForms(resource, owner);
  const own = hashAs(form);
  const hash =
    former === undefined
      ? own
      : sql`CASE length(${column(alias, '_hash')}) WHEN ${integer(former.length)} THEN ${hashAs(former)} ELSE ${own} END`;
  return isPublished ? sql`concat(${hash}, '.', coalesce(${column(alias, '_audience')}, 0))` : hash;
}
