/**
 * Composes the text of a record in the RESO interface: stored members, selected and computed ones, and expansions, which are
 * records in turn.
 */
import { type Field, leadsToCustomFields } from '../../dictionary/index.ts';
import type { Expansion } from '../../query/request.ts';
import { typeOf } from '../../query/tree.ts';
import { type Context, sameRow, visibleRows, withScope } from '../context.ts';
import { markDamagedLinks, markIfDamaged } from '../damaged-records.ts';
import { childConditions, compileCondition, compileValue, fieldValue } from '../expression.ts';
import { all, column, concat, constantText, integer, join, name, type Sql, sql } from '../fragment.ts';
import { isOneTable, type ResourceLayout } from '../layout/index.ts';
import { type ResoShape, shapeOfCustomFields } from '../read.ts';
import { searchConditions } from '../search.ts';
import { addressText, controlMembers, fieldsOf, insertKey, typeOfComputed, typeOfField } from './control.ts';
import { linkedMembers } from './linked-texts.ts';
import { label } from './members.ts';
import { cachedMembers, type FileAddress, jsonOf, type TextSource, withFileAddresses } from './source.ts';
import { piecesText } from './stored-members.ts';

/**
 * Whether a record is returned from its stored texts. Otherwise its members are written from the columns: the
 * selected ones, or all if control information is interleaved.
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
    const compiled = compileValue(source.context, expression);
    return [
      constantText(`,${typeOfComputed(shape, each)}${label(name)}`),
      source.context.dialect.computed(typeOf(expression), compiled),
    ];
  });
  const { context, layout, alias } = source;
  const marks = [
    ...markIfDamaged(context, layout.resource.name, column(alias, '_key')),
    ...(isWhole(shape)
      ? markDamagedLinks(context, layout, alias, shape.ownOnly === true ? [] : undefined)
      : markDamagedLinks(context, layout, alias, fieldsOf(source, shape))),
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
    const members = cachedMembers(source, omitNulls ? 'own without nulls' : 'own', () =>
      piecesText(source, { naming: 'reso', custom: false, omitNulls }),
    );
    return [...members, ...customMembers(source, omitNulls)];
  }
  return cachedMembers(source, omitNulls ? 'reso without nulls' : 'reso', () => [
    ...piecesText(source, { naming: 'reso', custom: true, omitNulls }),
    ...linkedMembers(source, omitNulls),
  ]);
}

/** Custom fields in use, ordered by name. */
const customFields = ({ fields }: ResourceLayout): Field[] =>
  fields
    .filter(({ custom }) => custom !== undefined)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

function customMembers({ context, view, layout, files, alias }: TextSource, omitNulls: boolean): Sql[] {
  return customFields(layout)
    .filter((field) => view.role.seesField(field))
    .flatMap((field) => memberText(context, field, `,${label(field.name)}`, omitNulls, { files, alias }));
}

/** Writes members from typed columns. The first has no leading comma. */
function selectedMembers(source: TextSource, shape: ResoShape): Sql[] {
  const { context, layout, files, alias } = source;
  const given = fieldsOf(source, shape);
  // If nulls are omitted, the first member must be one that is never null.
  const key = layout.resource.fields.get(layout.resource.key);
  const fields =
    shape.selection.all && key !== undefined ? [key, ...given.filter((field) => field !== key)] : given;
  return fields.flatMap((field, index) => {
    const name = `${index === 0 ? '' : ','}${typeOfField(shape, field)}${label(field.name)}`;
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
  const found = fieldValue(context, 0, [], field);
  return [sql`CASE WHEN ${found} IS NULL THEN '' ELSE concat(${name}, ${text}) END`];
}

/** `"Field@Core.Permissions":"None"` for fields that the role may not see (OData protocol 4.01, 11.2.6.1). */
function hiddenAnnotations({ view, layout }: TextSource, shape: ResoShape): Sql[] {
  if (!shape.annotateHidden) return [];
  const hidden = shape.selection.all ? view.hiddenOf(layout.resource) : shape.selection.hidden;
  const text = hidden.map((field) => `,"${field.name}@Core.Permissions":"None"`).join('');
  return text === '' ? [] : [constantText(text)];
}

/** The expanded navigations of a record as members, each with a leading comma. */
function expansionMembers(source: TextSource, shape: ResoShape): Sql[] {
  return shape.expansions.flatMap((expansion) => {
    const { isBare = false, navigation } = expansion;
    if (isBare || !source.context.model.stores(navigation.target)) return [bareMember(expansion)];
    const inner: ResoShape = {
      ...shape,
      selection: expansion.query.selection,
      computed: expansion.query.computed,
      expansions: expansion.query.expansions,
      control: shape.control === undefined ? undefined : { ...shape.control, isPart: false },
    };
    if (leadsToCustomFields(navigation)) return customMember(source, expansion, shapeOfCustomFields(inner));
    return navigation.collection
      ? collectionMember(source, expansion, inner)
      : singleMember(source, expansion, inner);
  });
}

/** The member for a navigation to a resource of which the store has never had a record. */
function bareMember({ name: shown, navigation, give, query }: Expansion): Sql {
  const count = `,"${shown}@odata.count":0`;
  if (give === 'count') return constantText(count);
  const text = `,${label(shown)}${navigation.collection ? '[]' : 'null'}`;
  return constantText(query.count ? `${count}${text}` : text);
}

/** The rows of an expansion's target, under aliases of their own. */
interface TargetRows {
  readonly source: TextSource;
  readonly columns: string;
  readonly from: Sql;
  readonly conditions: readonly Sql[];
}

function targetRows(source: TextSource, expansion: Expansion, shape: ResoShape): TargetRows {
  const whole = isWhole(shape);
  const { context } = source;
  const { query } = expansion;
  const layout = context.model.layout(expansion.navigation.target);
  const columns = context.alias();
  const texts = isOneTable(layout) ? columns : context.alias();
  const computes =
    query.computed.length > 0 || query.expansions.length > 0 || namesCustomFields(layout, shape);
  const narrows = query.filter !== undefined || query.search !== undefined;
  const needsColumns = !whole || narrows || query.order.length > 0 || computes;
  const main = whole ? texts : columns;
  const inner = withScope(context, 0, {
    kind: 'record',
    alias: needsColumns ? columns : texts,
    resource: layout.resource.name,
  });
  const textsFrom = sql`${name(layout.textsTable)} ${name(texts)}`;
  const columnsFrom = sql`${name(layout.columnsTable)} ${name(columns)}`;
  const both = sql`${textsFrom} JOIN ${columnsFrom} ON ${sameRow(context.dialect, layout, columns, texts)}`;
  const from = isOneTable(layout) || !whole ? columnsFrom : needsColumns ? both : textsFrom;
  const filters = query.filter === undefined ? [] : [compileCondition(inner, query.filter, false)];
  if (query.search !== undefined) filters.push(...searchConditions(inner, source.view, layout, query.search));
  return {
    source: { ...source, context: inner, layout, alias: main, texts },
    columns,
    from,
    conditions: [...visibleRows(context, layout, main), ...filters],
  };
}

function collectionMember(source: TextSource, expansion: Expansion, shape: ResoShape): Sql[] {
  const { context } = source;
  const { navigation, query, give } = expansion;
  const rows = targetRows(source, expansion, shape);
  const main = rows.source.alias;
  const owner = ownerAlias(source);
  const belongs = childConditions(context, navigation, main, column(owner, '_key'), owner);
  const where = all([...belongs, ...rows.conditions]);
  const count = sql`(SELECT count(*) FROM ${rows.from} WHERE ${where})`;
  const countMember = [constantText(`,"${expansion.name}@odata.count":`), count];
  if (give === 'count') return countMember;
  const order = [
    ...query.order.map((term) =>
      context.dialect.order(compileValue(rows.source.context, term.expression), term.descending),
    ),
    column(main, '_key'),
  ];
  const limit = query.top === undefined ? sql`` : sql` LIMIT ${integer(query.top)}`;
  const noLimit = query.top === undefined && query.skip !== undefined ? context.dialect.noLimit : sql``;
  const offset = query.skip === undefined ? sql`` : sql` OFFSET ${integer(query.skip)}`;
  const text = recordText(rows.source, shape, give);
  const list = sql`(SELECT ${context.dialect.aggregateTexts(sql`x`)} FROM (SELECT ${text} AS x FROM ${rows.from} WHERE ${where} ORDER BY ${join(order, ', ')}${limit}${noLimit}${offset}) q)`;
  const member = [constantText(`,${label(expansion.name)}[`), list, constantText(']')];
  return query.count ? [...countMember, ...member] : member;
}

/** The custom fields of the record itself, as a list with one member. */
function customMember(source: TextSource, expansion: Expansion, shape: ResoShape): Sql[] {
  const list = [constantText('['), relatedText(source, expansion, shape), constantText(']')];
  return [constantText(`,${label(expansion.name)}`), ...list];
}

function singleMember(source: TextSource, expansion: Expansion, shape: ResoShape): Sql[] {
  return [constantText(`,${label(expansion.name)}`), relatedText(source, expansion, shape)];
}

/** The record that a to-one expansion leads to; `null` if there is none. */
function relatedText(source: TextSource, expansion: Expansion, shape: ResoShape): Sql {
  const { context } = source;
  const { navigation, give } = expansion;
  const rows = targetRows(source, expansion, shape);
  const owner = context.model.resource(navigation.resource).fields.get(navigation.local);
  const remote = rows.source.layout.resource.fields.get(navigation.remote);
  if (owner === undefined || remote === undefined) return constantText('null');
  const link = isOwnLink(source, navigation.local)
    ? column(source.alias, navigation.local)
    : fieldValue(context, 0, [], owner);
  const isKey = remote.name === rows.source.layout.resource.key;
  const key = isKey ? column(rows.source.alias, '_key') : fieldValue(rows.source.context, 0, [], remote);
  const text = recordText(rows.source, shape, give);
  const where = all([sql`${key} = ${link}`, ...rows.conditions]);
  const found = sql`(SELECT ${text} FROM ${rows.from} WHERE ${where} LIMIT 1)`;
  return sql`coalesce(${found}, 'null')`;
}

function recordText(source: TextSource, shape: ResoShape, give: Expansion['give']): Sql {
  if (give !== 'references') return resoText(source, shape);
  const { context, layout, alias } = source;
  const text = `{"@odata.id":"${addressText(shape.root, layout.resource)}"}`;
  return insertKey(text, context.dialect, layout.resource, alias);
}

/** The texts table has the link fields; other fields need the columns table. */
function isOwnLink({ layout }: TextSource, field: string): boolean {
  return layout.links.some((link) => link.field === field);
}

function ownerAlias({ context, alias }: TextSource): string {
  const binding = context.scopes.get(0);
  return binding?.kind === 'record' ? binding.alias : alias;
}

/** Whether custom fields are read one by one from the columns. */
const namesCustomFields = (layout: ResourceLayout, { ownOnly = false }: ResoShape): boolean =>
  ownOnly && customFields(layout).length > 0;

/** Whether the text of a record needs the columns table in addition to the texts. */
export function needsColumns(source: Pick<TextSource, 'layout'>, shape: ResoShape): boolean {
  return (
    shape.computed.length > 0 ||
    namesCustomFields(source.layout, shape) ||
    shape.expansions.some(
      ({ navigation }) =>
        (!navigation.collection || leadsToCustomFields(navigation)) &&
        !source.layout.links.some((link) => link.field === navigation.local),
    )
  );
}
