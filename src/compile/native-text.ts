import type { Field } from '../dictionary/index.ts';
import type { NativeExpansion } from '../query/native/index.ts';
import { damagedMark, linkedMarks } from './damaged-mark.ts';
import { column, concat, constantText, type Sql } from './fragment.ts';
import { joinedMembers } from './joined-text.ts';
import { jsonOf } from './json.ts';
import { keptMembers } from './kept-members.ts';
import { partList } from './native-part-text.ts';
import { piecesText } from './pieces-text.ts';
import type { NativeListingShape } from './read.ts';
import { isWhole, type TextSource } from './reso-text.ts';
import { label } from './text/encode.ts';
import { typeOf, value } from './value.ts';

/** What stands in the place of a value that the role may not see (reference: native-v1, A listing). */
const MASK = '"********"';

/** A listing in the native interface. */
export function nativeListingText(source: TextSource, shape: NativeListingShape): Sql {
  const members = isWhole(shape) ? wholeMembers(source) : selected(source, shape);
  const parts = shape.expansions.flatMap((expansion) => partMember(source, shape, expansion));
  const custom = customFields(source, shape);
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
  const computed = (shape.computed ?? []).flatMap(({ name, expression }) => {
    const text = context.dialect.computed(typeOf(expression), value(context, expression));
    return [constantText(`,${label(name)}`), text];
  });
  return [...members, ...computed, ...masks(hidden)];
}

/** A list of sub-resources inside StandardFields. The primary photo is one of the photos, where these are given, too. */
function partMember(source: TextSource, shape: NativeListingShape, expansion: NativeExpansion): Sql[] {
  if (expansion === 'CustomFields') return [];
  if (expansion === 'Supplement') return supplement(source);
  if (expansion === 'PrimaryPhoto' && shape.expansions.includes('Photos')) return [];
  const shown = expansion === 'PrimaryPhoto' ? 'Photos' : expansion;
  const list = partList(source, expansion, shape.members?.[expansion]);
  return [constantText(`,"${shown}":[`), list, constantText(']')];
}

/** A further text of a listing, which an operator may declare under this name; the dictionary has none. */
const SUPPLEMENT = 'Supplement';

function supplement({ context, view, layout, files, alias }: TextSource): Sql[] {
  const field = layout.resource.fields.get(SUPPLEMENT);
  const text = (): Sql => {
    if (field === undefined) return constantText('null');
    return view.role.seesField(field) ? jsonOf(context, field, { files, alias }) : constantText(MASK);
  };
  return [constantText(`,${label(SUPPLEMENT)}`), text()];
}

/**
 * `"CustomFields":[{"Main":[{"Group":[{"Field":value}, …]}, …],"Details":[…]}]` under the current names: all with the
 * expansion, else those that are selected.
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
