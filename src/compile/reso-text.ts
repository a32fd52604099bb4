import type { View } from '../access/index.ts';
import type { Field } from '../dictionary/index.ts';
import type { Context } from './context.ts';
import { controlMembers, fieldsOf, typeOfComputed, typeOfField } from './control.ts';
import { damagedMark, linkedMarks } from './damaged-mark.ts';
import { expansionMembers } from './expansion.ts';
import { placeOf, valueAt } from './fields.ts';
import { type FileAddress, withFileAddresses } from './file-address.ts';
import { column, concat, constantText, type Sql, sql } from './fragment.ts';
import { joinedMembers } from './joined-text.ts';
import { jsonOf } from './json.ts';
import { keptMembers } from './kept-members.ts';
import type { ResourceLayout } from './layout/index.ts';
import { piecesText } from './pieces-text.ts';
import type { ResoShape } from './read.ts';
import { label } from './text/encode.ts';
import { typeOf, value } from './value.ts';

/** What a record's text is made for. */
export interface TextSource {
  readonly context: Context;
  readonly view: View;
  readonly layout: ResourceLayout;
  /** The table that the record's own members come from: its texts, or its columns for a selection. */
  readonly alias: string;
  /** The texts table; the same as `alias` for a whole record. */
  readonly texts: string;
  readonly files: FileAddress;
}

/**
 * Whether the whole record is given from its texts; else its members are written from the columns: those that are selected,
 * or all, where control information stands between them.
 */
export const isWhole = ({
  selection,
  control,
}: Pick<ResoShape, 'selection'> & Partial<Pick<ResoShape, 'control'>>): boolean =>
  selection.all && control === undefined;

/** The JSON text of a record in the RESO interface. */
export function resoText(source: TextSource, shape: ResoShape): Sql {
  const members = isWhole(shape) ? wholeMembers(source, shape) : selectedMembers(source, shape);
  const computed = shape.computed.flatMap((each) => {
    const { name, expression } = each;
    const compiled = value(source.context, expression);
    return [
      constantText(`,${typeOfComputed(shape, each)}${label(name)}`),
      source.context.dialect.computed(typeOf(expression), compiled),
    ];
  });
  const { context, layout, alias } = source;
  const marks = [
    ...damagedMark(context, layout.resource.name, column(alias, '_key')),
    ...(isWhole(shape)
      ? linkedMarks(context, layout, alias, shape.ownOnly === true ? [] : undefined)
      : linkedMarks(context, layout, alias, fieldsOf(source, shape))),
  ];
  const parts = [
    ...members,
    ...hiddenAnnotations(source, shape),
    ...computed,
    ...expansionMembers(source, shape),
  ];
  const text = concat([
    ...marks,
    constantText('{'),
    ...controlMembers(source, shape),
    ...parts,
    constantText('}'),
  ]);
  return isWhole(shape) ? withFileAddresses(source, text) : text;
}

function wholeMembers(source: TextSource, { omitNulls, ownOnly = false }: ResoShape): readonly Sql[] {
  if (ownOnly) {
    const members = keptMembers(source, omitNulls ? 'own without nulls' : 'own', () =>
      piecesText(source, { naming: 'reso', custom: false, omitNulls }),
    );
    return [...members, ...customMembers(source, omitNulls)];
  }
  return keptMembers(source, omitNulls ? 'reso without nulls' : 'reso', () => [
    ...piecesText(source, { naming: 'reso', custom: true, omitNulls }),
    ...joinedMembers(source, omitNulls),
  ]);
}

/** Custom fields that are in use, in the order of their names. */
export const customFields = ({ fields }: ResourceLayout): Field[] =>
  fields
    .filter(({ custom }) => custom !== undefined)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

function customMembers({ context, view, layout, files, alias }: TextSource, omitNulls: boolean): Sql[] {
  return customFields(layout)
    .filter((field) => view.role.seesField(field))
    .flatMap((field) => memberText(context, field, `,${label(field.name)}`, omitNulls, { files, alias }));
}

/** Members from typed columns; the first has no comma before it. */
function selectedMembers(source: TextSource, shape: ResoShape): Sql[] {
  const { context, layout, files, alias } = source;
  const given = fieldsOf(source, shape);
  // Where nulls are left out the first member must be one that never is.
  const key = layout.resource.fields.get(layout.resource.key);
  const fields =
    shape.selection.all && key !== undefined ? [key, ...given.filter((field) => field !== key)] : given;
  return fields.flatMap((field, index) => {
    const name = `${index === 0 ? '' : ','}${typeOfField(source, shape, field)}${label(field.name)}`;
    return memberText(context, field, name, shape.omitNulls && index > 0, { files, alias });
  });
}

function memberText(
  context: Context,
  field: Field,
  label: string,
  omitNull: boolean,
  place: { readonly files: FileAddress; readonly alias: string },
): Sql[] {
  const name = constantText(label);
  const text = jsonOf(context, field, place);
  if (!omitNull) return [name, text];
  const found = valueAt(placeOf(context, 0, [], field));
  return [sql`CASE WHEN ${found} IS NULL THEN '' ELSE concat(${name}, ${text}) END`];
}

/** `"Field@Core.Permissions":"None"` for what the role may not see (OData protocol 4.01, 11.2.6.1). */
function hiddenAnnotations({ view, layout }: TextSource, shape: ResoShape): Sql[] {
  if (!shape.annotateHidden) return [];
  const hidden = shape.selection.all ? view.hiddenOf(layout.resource) : shape.selection.hidden;
  const text = hidden.map((field) => `,"${field.name}@Core.Permissions":"None"`).join('');
  return text === '' ? [] : [constantText(text)];
}
