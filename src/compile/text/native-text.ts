/**
 * Composes the texts of listings and their sub-resources in the native interface. All of its wire names are in this file and in
 * native-parts.ts.
 */
import { type Field, type NativePart, rowOfPart } from '../../dictionary/index.ts';
import type { NativeExpansion } from '../../query/native/selection.ts';
import { typeOf } from '../../query/tree.ts';
import { type Context, recordOf, visibleRows } from '../context.ts';
import { markDamagedLinks, markIfDamaged } from '../damaged-records.ts';
import type { Dialect } from '../dialect.ts';
import { childConditions, compileValue } from '../expression.ts';
import { all, bind, column, concat, constantText, integer, join, name, type Sql, sql } from '../fragment.ts';
import { type NativeListingShape, type NativePartExpansion, partOfNativeExpansion } from '../read.ts';
import { linkedMembers } from './linked-texts.ts';
import { label, URL_MARK } from './members.ts';
import { PHOTO_END, PHOTO_URIS, renditionQuery, SERVED_PHOTO_END } from './native-parts.ts';
import { isWhole } from './reso-text.ts';
import { cachedMembers, jsonOf, type TextSource, withFileAddresses } from './source.ts';
import { piecesText } from './stored-members.ts';
import { ELEMENTS, HTML_CHARACTERS, UNNAMED_VIDEO, VIDEO_FORMS } from './video-html.ts';

/** Replaces a value that the role may not see (reference: native-v1, A listing). */
const MASK = '"********"';

/** The JSON text of a listing in the native interface. */
export function nativeListingText(source: TextSource, shape: NativeListingShape): Sql {
  const parts = shape.expansions.flatMap((expansion) => partMember(source, shape, expansion));
  const members = isWhole(shape)
    ? [...wholeMembers(source), ...joined(parts, ',')]
    : joined([...selected(source, shape), ...parts]);
  const custom = customFields(source, shape);
  const end = `,"LastCachedTimestamp":null,"DisplayCompliance":{"View":"${shape.display}"}}`;
  const head = column(source.texts, 'native_head');
  const { context, layout, alias } = source;
  const marks = [
    ...markIfDamaged(context, layout.resource.name, column(alias, '_key')),
    ...markDamagedLinks(context, layout, alias, isWhole(shape) ? undefined : shape.selection.fields),
  ];
  const begin = [...marks, constantText('{'), head, constantText(',"StandardFields":{')];
  return concat([...begin, ...members, constantText('}'), ...custom, constantText(end)]);
}

/** A member of an object: its name, with what begins its value, and the texts that follow. */
interface Member {
  readonly begin: string;
  readonly rest: readonly Sql[];
}

/** @param before what precedes the first member */
const joined = (members: readonly Member[], before = ''): Sql[] =>
  members.flatMap(({ begin, rest }, index) => [
    constantText(`${index === 0 ? before : ','}${begin}`),
    ...rest,
  ]);

const wholeMembers = (source: TextSource): readonly Sql[] =>
  cachedMembers(source, 'native', () => [
    ...piecesText(source, { naming: 'native', custom: false, omitNulls: false }),
    ...linkedMembers(source, false),
    ...joined(masks(source.view.hiddenOf(source.layout.resource)), ','),
  ]);

function masks(hidden: readonly Field[]): Member[] {
  const begin = hidden
    .filter((field) => field.custom === undefined)
    .map((field) => `${label(field.nativeName)}${MASK}`)
    .join(',');
  return begin === '' ? [] : [{ begin, rest: [] }];
}

/** The named members and no others; the key of a listing is its Id as well. */
function selected({ context, files, alias }: TextSource, shape: NativeListingShape): Member[] {
  const { fields, hidden } = shape.selection;
  const members = fields
    .filter((field) => field.custom === undefined)
    .map((field) => ({ begin: label(field.nativeName), rest: [jsonOf(context, field, { files, alias })] }));
  const computed = (shape.computed ?? []).map(({ name, expression }) => ({
    begin: label(name),
    rest: [context.dialect.computed(typeOf(expression), compileValue(context, expression))],
  }));
  return [...members, ...computed, ...masks(hidden)];
}

/**
 * The list of a sub-resource inside StandardFields. The primary photo is one of the photos if the photos are
 * expanded, too.
 */
function partMember(source: TextSource, shape: NativeListingShape, expansion: NativeExpansion): Member[] {
  if (expansion === 'CustomFields') return [];
  if (expansion === 'Supplement') return supplement(source);
  if (expansion === 'PrimaryPhoto' && shape.expansions.includes('Photos')) return [];
  const shown = expansion === 'PrimaryPhoto' ? 'Photos' : expansion;
  const list = partList(source, expansion, shape.members?.[expansion]);
  return [{ begin: `"${shown}":[`, rest: [list, constantText(']')] }];
}

/** A further text of a listing, which an operator may declare under this name. The dictionary does not have it. */
const SUPPLEMENT = 'Supplement';

function supplement({ context, view, layout, files, alias }: TextSource): Member[] {
  const field = layout.resource.fields.get(SUPPLEMENT);
  const text = (): Sql => {
    if (field === undefined) return constantText('null');
    return view.role.seesField(field) ? jsonOf(context, field, { files, alias }) : constantText(MASK);
  };
  return [{ begin: label(SUPPLEMENT), rest: [text()] }];
}

/**
 * `"CustomFields":[{"Main":[{"Group":[{"Field":value}, …]}, …],"Details":[…]}]` under the current names: all fields with the
 * expansion, otherwise the selected ones.
 */
function customFields(
  { context, view, layout, files, alias }: TextSource,
  { expansions, selection }: NativeListingShape,
): Sql[] {
  const all = expansions.includes('CustomFields');
  const given = all ? layout.fields : [...selection.fields, ...selection.hidden];
  const custom = given.flatMap((field) => (field.custom ? [{ field, custom: field.custom }] : []));
  if (!all && custom.length === 0) return [];
  const sections = (['Main', 'Details'] as const).flatMap((section, place) => {
    const groups = Map.groupBy(
      custom.filter((each) => each.custom.section === section),
      (each) => each.custom.group,
    );
    const texts = [...groups].flatMap(([group, members], index) => {
      const fields = members.flatMap(({ field, custom: { label: shown } }, position) => {
        const start = constantText(`${position === 0 ? '' : ','}{${label(shown)}`);
        const seen = view.role.seesField(field);
        const text = seen ? jsonOf(context, field, { files, alias }) : constantText(MASK);
        return [start, text, constantText('}')];
      });
      const begin = constantText(`${index === 0 ? '' : ','}{${label(group)}[`);
      return [begin, ...fields, constantText(']}')];
    });
    return [constantText(`${place === 0 ? '' : ','}"${section}":[`), ...texts, constantText(']')];
  });
  return [constantText(',"CustomFields":[{'), ...sections, constantText('}]')];
}

/**
 * The sub-resources of a listing in the native interface: their rows, their order, and their texts. What is the same for every
 * reader was written when the record was stored. Added on reading are the addresses of files, the flag of the primary photo among
 * those that the role sees, and the HTML of videos.
 */

const resourceOf = (part: NativePart): string => rowOfPart(part).resource;

/** The kinds of media of a part as an SQL list; undefined for parts that are not media. */
function kindsOf(part: NativePart): Sql | undefined {
  const { media } = rowOfPart(part);
  return media === undefined ? undefined : sql`(${join(media.map(constantText), ', ')})`;
}

/** The conditions on a row of the part's resource. */
export function partConditions(part: NativePart, alias: string): Sql[] {
  const kinds = kindsOf(part);
  return kinds === undefined ? [] : [sql`${column(alias, '_kind')} IN ${kinds}`];
}

/** Floor plans come after the photos. Otherwise the order of the records decides, then their keys. */
export function partOrder(dialect: Dialect, part: NativePart, alias: string): Sql[] {
  const byKey = column(alias, '_key');
  if (kindsOf(part) === undefined) return [byKey];
  return [sql`${column(alias, '_kind')} = 'plan'`, dialect.order(column(alias, '_rank'), false), byKey];
}

type PartSource = Pick<TextSource, 'context' | 'layout' | 'alias' | 'files'>;

/** The contents of a sub-resource to return. */
interface GivenPart {
  readonly part: NativePart;
  /** The key of the listing's primary photo as SQL; absent: photos keep the flags that they were stored with. */
  readonly primary?: Sql;
  /** Absent: all members. */
  readonly members?: readonly string[] | undefined;
  /** Whether the key of the listing is added as the last member. */
  readonly namesListing?: boolean;
}

/** The JSON text of one sub-resource. */
export function partText(source: PartSource, given: GivenPart): Sql {
  const { context, layout, alias } = source;
  const marks = markIfDamaged(context, layout.resource.name, column(alias, '_key'));
  const { members } = given;
  const text = members === undefined ? wholePart(source, given) : selectedPart(source, given, members);
  return marks.length === 0 ? text : concat([...marks, text]);
}

function wholePart(source: PartSource, { part, primary, namesListing = false }: GivenPart): Sql {
  const { alias } = source;
  switch (part) {
    case 'photos':
      return sql`concat(${photoText(source, primary)}, ${photoEnd(source)})`;
    case 'floorplans':
      return withFileAddresses(source, column(alias, 'native_plan_text'));
    case 'videos':
      return withFileAddresses(source, videoText(source));
    default: {
      const text = withFileAddresses(source, column(alias, 'native_text'));
      return namesListing ? withListing(source, text) : text;
    }
  }
}

/** Adds the key of the listing to an object. */
const withListing = ({ context, alias }: PartSource, text: Sql): Sql =>
  sql`concat(rtrim(${text}, '}'), ',"ListingKey":', ${context.dialect.json('string', column(alias, '_parent'))}, '}')`;

/** The column of a field; null if the store has never had a value of it. */
const columnOrNull = ({ layout, alias }: PartSource, field: string): Sql =>
  layout.fields.some((each) => each.name === field) ? column(alias, field) : sql`NULL`;

/** The absolute address of a medium. */
const addressOf = (source: PartSource): Sql =>
  sql`coalesce(${source.files(column(source.alias, '_file'))}, ${columnOrNull(source, 'MediaURL')})`;

const addressJson = (source: PartSource): Sql => source.context.dialect.json('string', addressOf(source));

/** Whether this service serves a photo in several widths. A floor plan is served only in the size in which it was drawn. */
const hasRenditions = ({ alias }: PartSource): Sql =>
  sql`${column(alias, '_file')} IS NOT NULL AND ${column(alias, '_kind')} = 'photo'`;

/**
 * A photo that is hosted elsewhere has one address for all renditions; a served photo has one address per rendition.
 */
function photoEnd(source: PartSource): Sql {
  const json = addressJson(source);
  const bare = sql`substr(${json}, 2, length(${json}) - 2)`;
  const put = (end: string, address: Sql): Sql => sql`replace(${bind(end)}, ${bind(URL_MARK)}, ${address})`;
  return sql`CASE WHEN ${hasRenditions(source)} THEN ${put(SERVED_PHOTO_END, bare)} ELSE ${put(PHOTO_END, json)} END`;
}

/** The address of one rendition as JSON text. */
function renditionJson(source: PartSource, member: string): Sql {
  const query = renditionQuery(member);
  if (query === '') return addressJson(source);
  const served = concat([source.files(column(source.alias, '_file')), constantText(query)]);
  const address = sql`CASE WHEN ${hasRenditions(source)} THEN ${served} ELSE ${addressOf(source)} END`;
  return source.context.dialect.json('string', address);
}

/** These texts cannot occur inside a JSON string, where quotes are escaped. */
const IS_PRIMARY = constantText('"Primary":true');
const IS_NOT_PRIMARY = constantText('"Primary":false');

/** The text of a photo without its end. Only the first of the preferred photos is the primary one. */
function photoText(source: PartSource, primary: Sql | undefined): Sql {
  const text = column(source.alias, 'native_text');
  if (primary === undefined) return text;
  const isPrimary = sql`${column(source.alias, '_key')} = ${primary}`;
  return sql`CASE WHEN ${isPrimary} THEN replace(${text}, ${IS_NOT_PRIMARY}, ${IS_PRIMARY}) WHEN ${columnOrNull(source, 'PreferredPhotoYN')} THEN replace(${text}, ${IS_PRIMARY}, ${IS_NOT_PRIMARY}) ELSE ${text} END`;
}

/**
 * Selects the key `k` of a listing's primary photo for the role: the first preferred photo, or the first photo if none is
 * preferred. No row if there are no photos.
 * @param listing the key of the listing
 */
export function primaryPhoto(context: Context, listing: Sql): Sql {
  const layout = context.model.layout('Media');
  const alias = context.alias();
  const where = partRows(context, 'photos', alias, listing);
  const order = join(primaryOrder({ context, layout, alias }), ', ');
  return sql`SELECT ${column(alias, '_key')} AS k FROM ${name(layout.textsTable)} ${name(alias)} WHERE ${all(where)} ORDER BY ${order} LIMIT 1`;
}

/** @param holder the alias of the listing's row, if the statement reads it */
function partRows(context: Context, part: NativePart, alias: string, listing: Sql, holder?: string): Sql[] {
  const target = resourceOf(part);
  const navigation = { resource: 'Property', target, remote: 'ListingKey' };
  return [
    ...childConditions(context, navigation, alias, listing, holder),
    ...partConditions(part, alias),
    ...visibleRows(context, context.model.layout(target), alias),
  ];
}

function primaryOrder(source: Pick<TextSource, 'context' | 'layout' | 'alias'>): Sql[] {
  const preferred = source.layout.fields.find((field) => field.name === 'PreferredPhotoYN');
  const first =
    preferred === undefined ? [] : [sql`CASE WHEN ${column(source.alias, preferred.name)} THEN 0 ELSE 1 END`];
  return [...first, ...partOrder(source.context.dialect, 'photos', source.alias)];
}

/** A video with HTML that shows it and a type that says whether it is branded. */
function videoText(source: PartSource): Sql {
  const { dialect } = source.context;
  const [type, html] = [columnOrNull(source, 'MediaType'), columnOrNull(source, 'MediaHTML')];
  const branding = sql`CASE lower(${type}) WHEN 'unbranded' THEN 'unbranded' ELSE 'branded' END`;
  const before = concat([
    constantText('"Type":'),
    dialect.json('string', type),
    constantText(',"ObjectHtml":'),
    dialect.json('string', html),
  ]);
  const after = concat([
    constantText('"Type":"'),
    branding,
    constantText('","ObjectHtml":'),
    dialect.json('string', sql`coalesce(${html}, ${derivedHtml(source)}, '')`),
  ]);
  return sql`replace(${column(source.alias, 'native_text')}, ${before}, ${after})`;
}

const escaped = (text: Sql): Sql =>
  HTML_CHARACTERS.reduce(
    (found, [character, entity]) =>
      sql`replace(${found}, ${constantText(character)}, ${constantText(entity)})`,
    text,
  );

function derivedHtml(source: PartSource): Sql {
  const { dialect } = source.context;
  const url = addressOf(source);
  const shown = escaped(
    sql`coalesce(${columnOrNull(source, 'ShortDescription')}, ${constantText(UNNAMED_VIDEO)})`,
  );
  // The LIMIT and the condition keep the engine from inlining the subquery, so the address is computed only once.
  const u = sql`v.u`;
  const cases = VIDEO_FORMS.map(({ pattern, player, element }) => {
    const address =
      player === undefined
        ? u
        : sql`replace(${u}, ${constantText(player.begins)}, ${constantText(player.instead)})`;
    const { before, between } = ELEMENTS[element];
    const rest = element === 'a' ? [shown, constantText(ELEMENTS.a.behind)] : [];
    const text = concat([constantText(before), escaped(address), constantText(between), ...rest]);
    return sql`WHEN ${dialect.matches(u, pattern, true)} THEN ${text}`;
  });
  return sql`(SELECT CASE ${join(cases, ' ')} END FROM (SELECT ${url} AS u LIMIT 1) v WHERE ${u} IS NOT NULL)`;
}

const IDENTITY = ['Id', 'ResourceUri'] as const;

/** Id, ResourceUri and the requested members, in the order of the request. */
function selectedPart(source: PartSource, given: GivenPart, members: readonly string[]): Sql {
  const { dialect } = source.context;
  const isAddress = (member: string): boolean => given.part === 'photos' && PHOTO_URIS.includes(member);
  const whole =
    given.part === 'photos'
      ? sql`concat(${photoText(source, given.primary)}, '}')`
      : wholePart(source, given);
  const named = [...IDENTITY, ...members.filter((member) => !IDENTITY.some((each) => each === member))];
  const texts = named.flatMap((member, index) => [
    constantText(`${index === 0 ? '{' : ','}${label(member)}`),
    isAddress(member) ? renditionJson(source, member) : dialect.member(sql`s.t`, member),
  ]);
  return sql`(SELECT ${concat([...texts, constantText('}')])} FROM (SELECT ${whole} AS t) s)`;
}

/** The list of a listing's sub-resources for an expansion, without brackets. */
function partList(
  source: TextSource,
  expansion: NativePartExpansion,
  members: readonly string[] | undefined,
): Sql {
  const { context } = source;
  const { dialect } = context;
  const part = partOfNativeExpansion(expansion);
  const resource = resourceOf(part);
  if (!context.model.stores(resource)) return sql`NULL`;
  const layout = context.model.layout(resource);
  const alias = context.alias();
  const owner = recordOf(context, 0).alias;
  const listing = column(owner, '_key');
  const rows = { ...source, layout, alias };
  const where = all(partRows(context, part, alias, listing, owner));
  const table = sql`${name(layout.textsTable)} ${name(alias)}`;
  const selectParts = (text: Sql, beside: Sql, order: readonly Sql[], end: Sql): Sql =>
    sql`(SELECT ${text} AS x${beside} FROM ${table} WHERE ${where} ORDER BY ${join(order, ', ')}${end}) q`;
  const joined = dialect.aggregateTexts(sql`x`);
  if (expansion === 'PrimaryPhoto') {
    const text = partText(rows, { part, members, primary: column(alias, '_key') });
    return sql`(SELECT ${joined} FROM ${selectParts(text, sql``, primaryOrder(rows), sql` LIMIT 1`)})`;
  }
  const order = partOrder(dialect, part, alias);
  const text = partText(rows, { part, members });
  const marksPrimary = part === 'photos' && members?.includes('Primary') !== false;
  if (!marksPrimary) return sql`(SELECT ${joined} FROM ${selectParts(text, sql``, order, sql``)})`;
  const isMarked = layout.fields.some((field) => field.name === 'PreferredPhotoYN');
  const preferred = sql`, ${isMarked ? column(alias, 'PreferredPhotoYN') : sql`FALSE`} AS p`;
  const counted = sql`SELECT ${joined} AS t, count(CASE WHEN p THEN 1 END) AS n FROM ${selectParts(text, preferred, order, sql``)}`;
  return sql`(SELECT ${withOnePrimary(dialect, sql`z.t`, sql`z.n`)} FROM (${counted}) z)`;
}

/**
 * Marks exactly one of a listing's joined photos as the primary one: the first that is marked, or the first photo if none is. Most
 * lists already have one mark and stay unchanged.
 * @param marks the number of marks
 */
function withOnePrimary(dialect: Dialect, list: Sql, marks: Sql): Sql {
  const [yes, no] = ['"Primary":true', '"Primary":false'];
  const before = (mark: Sql): Sql =>
    sql`CAST(${dialect.call('indexof', [list, mark], ['string', 'string'])} AS integer)`;
  const none = concat([
    sql`substr(${list}, 1, ${before(IS_NOT_PRIMARY)})`,
    IS_PRIMARY,
    sql`substr(${list}, ${before(IS_NOT_PRIMARY)} + ${integer(no.length + 1)})`,
  ]);
  const several = concat([
    sql`substr(${list}, 1, ${before(IS_PRIMARY)} + ${integer(yes.length)})`,
    sql`replace(substr(${list}, ${before(IS_PRIMARY)} + ${integer(yes.length + 1)}), ${IS_PRIMARY}, ${IS_NOT_PRIMARY})`,
  ]);
  const isOther = (mark: Sql): Sql => sql`${before(mark)} >= 0`;
  return sql`CASE WHEN ${marks} = 1 OR ${list} IS NULL THEN ${list} WHEN ${marks} = 0 AND ${isOther(IS_NOT_PRIMARY)} THEN ${none} WHEN ${marks} > 1 AND ${isOther(IS_PRIMARY)} THEN ${several} ELSE ${list} END`;
}
