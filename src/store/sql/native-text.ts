import type { Field } from '../../dictionary/index.ts';
import type { NativeExpansion } from '../../query/native/index.ts';
import { NATIVE_EXPANSIONS, type NativeListingShape } from '../read.ts';
import { label } from '../text/encode.ts';
import { type NativePart, PHOTO_END } from '../text/native-parts.ts';
import { URL_MARK } from '../text/served-files.ts';
import { childOf } from './collection.ts';
import { recordOf, visibleRows } from './context.ts';
import { damagedMark, linkedMarks } from './damaged-mark.ts';
import type { Dialect } from './dialect.ts';
import { withFileAddresses } from './file-address.ts';
import { all, bind, column, concat, constantText, join, name, type Sql, sql } from './fragment.ts';
import { joinedMembers } from './joined-text.ts';
import { jsonOf } from './json.ts';
import { keptMembers } from './kept-members.ts';
import { piecesText } from './pieces-text.ts';
import { isWhole, type TextSource } from './reso-text.ts';

/** What stands in the place of a value that the role may not see (reference: native-v1, A listing). */
const MASK = '"********"';

/** A listing in the native interface. */
export function nativeListingText(source: TextSource, shape: NativeListingShape): Sql {
  const members = isWhole(shape) ? wholeMembers(source) : selected(source, shape);
  const parts = shape.expansions.flatMap((expansion) =>
    expansion === 'CustomFields' ? [] : partMember(source, expansion, NATIVE_EXPANSIONS[expansion]),
  );
  const custom = shape.expansions.includes('CustomFields') ? customFields(source) : [];
  const end = `,"LastCachedTimestamp":null,"DisplayCompliance":{"View":"${shape.display}"}}`;
  const head = column(source.texts, 'native_head');
  const { context, layout, alias } = source;
  const marks = [
    ...damagedMark(context, layout.resource.name, column(alias, '_key')),
    ...linkedMarks(context, layout, alias, isWhole(shape) ? undefined : shape.selection.fields),
  ];
  const begin = [...marks, constantText('{'), head, constantText(',"StandardFields":{')];
  return concat([...begin, ...members, ...parts, constantText('}'), ...custom, constantText(end)]);
}

const wholeMembers = (source: TextSource): readonly Sql[] =>
  keptMembers(source, 'native', () => [
    ...piecesText(source, { naming: 'native', custom: false, omitNulls: false }),
    ...joinedMembers(source, false),
    ...masks(source.view.hiddenOf(source.layout.resource)),
  ]);

function masks(hidden: readonly Field[]): Sql[] {
  const text = hidden
    .filter((field) => field.custom === undefined)
    .map((field) => `,${label(field.nativeName)}${MASK}`)
    .join('');
  return text === '' ? [] : [constantText(text)];
}

/** Members from typed columns; ListingKey, which every listing gives, comes first. */
function selected({ context, layout, files, alias }: TextSource, shape: NativeListingShape): Sql[] {
  const { fields, hidden } = shape.selection;
  const key = layout.resource.fields.get(layout.resource.key);
  const given = [...(key === undefined || fields.includes(key) ? [] : [key]), ...fields].filter(
    (field) => field.custom === undefined,
  );
  const members = given.flatMap((field, index) => {
    const name = constantText(`${index === 0 ? '' : ','}${label(field.nativeName)}`);
    return [name, jsonOf(context, field, { files, alias })];
  });
  return [...members, ...masks(hidden)];
}

/** A list of sub-resources inside StandardFields. */
function partMember(source: TextSource, expansion: NativeExpansion, part: NativePart): Sql[] {
  return [constantText(`,"${expansion}":[`), partList(source, part), constantText(']')];
}

const RESOURCE_OF_PART: Readonly<Record<NativePart, string>> = {
  photos: 'Media',
  videos: 'Media',
  virtualtours: 'Media',
  documents: 'Media',
  floorplans: 'Media',
  rooms: 'PropertyRooms',
  units: 'PropertyUnitTypes',
  openhouses: 'OpenHouse',
};

const KINDS_OF_PART: Readonly<Partial<Record<NativePart, Sql>>> = {
  photos: sql`('photo', 'plan')`,
  videos: sql`('video')`,
  virtualtours: sql`('tour')`,
  documents: sql`('document')`,
  floorplans: sql`('plan')`,
};

export const resourceOfPart = (part: NativePart): string => RESOURCE_OF_PART[part];

/** Rows that are of a part, beyond their resource. */
export function partConditions(part: NativePart, alias: string): Sql[] {
  const kinds = KINDS_OF_PART[part];
  return kinds === undefined ? [] : [sql`${column(alias, '_kind')} IN ${kinds}`];
}

/** Floor plans come last among the photos; else the order that the records give, then their keys. */
export function partOrder(dialect: Dialect, part: NativePart, alias: string): Sql[] {
  const byKey = column(alias, '_key');
  if (KINDS_OF_PART[part] === undefined) return [byKey];
  return [sql`${column(alias, '_kind')} = 'plan'`, dialect.order(column(alias, '_rank'), false), byKey];
}

type PartSource = Pick<TextSource, 'context' | 'layout' | 'alias' | 'files'>;

/** One sub-resource. */
export function partText(source: PartSource, part: NativePart): Sql {
  const { context, layout, alias } = source;
  const marks = damagedMark(context, layout.resource.name, column(alias, '_key'));
  const text = storedPart(source, part);
  return marks.length === 0 ? text : concat([...marks, text]);
}

/** A photo gets its address, which is the same for all its renditions, at its end. */
function storedPart(source: PartSource, part: NativePart): Sql {
  const { context, layout, alias, files } = source;
  if (part === 'floorplans') return withFileAddresses(source, column(alias, 'native_plan_text'));
  if (part !== 'photos') return withFileAddresses(source, column(alias, 'native_text'));
  const stored = layout.fields.some((field) => field.name === 'MediaURL')
    ? column(alias, 'MediaURL')
    : sql`NULL`;
  const address = context.dialect.json('string', sql`coalesce(${files(column(alias, '_file'))}, ${stored})`);
  return sql`concat(${column(alias, 'native_text')}, replace(${bind(PHOTO_END)}, ${bind(URL_MARK)}, ${address}))`;
}

function partList(source: TextSource, part: NativePart): Sql {
  const { context } = source;
  const resource = RESOURCE_OF_PART[part];
  const layout = context.model.layout(resource);
  const alias = context.alias();
  const owner = recordOf(context, 0).alias;
  const where = all([
    ...childOf(context, resource, 'ListingKey', alias, 'Property', column(owner, '_key'), owner),
    ...partConditions(part, alias),
    ...visibleRows(context, layout, alias),
  ]);
  const text = partText({ ...source, layout, alias }, part);
  const order = join(partOrder(context.dialect, part, alias), ', ');
  return sql`(SELECT ${context.dialect.joined(sql`x`)} FROM (SELECT ${text} AS x FROM ${name(layout.textsTable)} ${name(alias)} WHERE ${where} ORDER BY ${order}) q)`;
}

/** `"CustomFields":[{"Main":[{"Group":[{"Field":value}, …]}, …],"Details":[…]}]` under the current names. */
function customFields({ context, view, layout, files, alias }: TextSource): Sql[] {
  const inUse = layout.fields.flatMap((field) => (field.custom ? [{ field, custom: field.custom }] : []));
  const sections = (['Main', 'Details'] as const).flatMap((section, place) => {
    const groups = Map.groupBy(
      inUse.filter(({ custom }) => custom.section === section),
      ({ custom }) => custom.group,
    );
    const texts = [...groups].flatMap(([group, members], index) => {
      const fields = members.flatMap(({ field, custom }, position) => {
        const start = constantText(`${position === 0 ? '' : ','}{${label(custom.label)}`);
        const shown = view.role.seesField(field);
        const value = shown ? jsonOf(context, field, { files, alias }) : constantText(MASK);
        return [start, value, constantText('}')];
      });
      const begin = constantText(`${index === 0 ? '' : ','}{${label(group)}[`);
      return [begin, ...fields, constantText(']}')];
    });
    return [constantText(`${place === 0 ? '' : ','}"${section}":[`), ...texts, constantText(']')];
  });
  return [constantText(',"CustomFields":[{'), ...sections, constantText('}]')];
}
