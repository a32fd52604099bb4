/** The text of records of several resources in one collection. */
import type { Navigation } from '../../dictionary/index.ts';
import { type Context, visibleRows } from '../context.ts';
import { markIfDamaged } from '../damaged-records.ts';
import { childConditions, fieldValue } from '../expression.ts';
import { all, column, concat, constantText, name, type Sql, sql } from '../fragment.ts';
import type { MergedMember, MergedSource } from '../read.ts';
import { label } from './members.ts';
import type { FileAddress } from './source.ts';

/**
 * Records of several resources in one collection, as JSON objects that name their resource. The native accounts
 * consist of them (service/native/account-text.ts).
 */
export function mergedText(context: Context, source: MergedSource, files: FileAddress): Sql {
  const { query, members, images } = source;
  const resource = query.resource.name;
  return concat([
    ...markIfDamaged(context, resource, column('r', '_key')),
    ...members.flatMap(({ via }) => markDamagedLink(context, via)),
    constantText(`{"@resource":"${resource}"`),
    ...members.flatMap((member) => memberText(context, member)),
    ...(images === undefined ? [] : imagesText(context, images, files)),
    constantText('}'),
  ]);
}

/** A value of another record is returned only if that record is not known to be damaged. */
function markDamagedLink(context: Context, via: MergedMember['via']): Sql[] {
  const target = via.at(-1)?.target;
  const resource = target === undefined ? undefined : context.model.resource(target);
  const key = resource?.fields.get(resource.key);
  if (resource === undefined || key === undefined || context.damaged?.has(resource.name) !== true) return [];
  return markIfDamaged(context, resource.name, fieldValue(context, 0, via, key));
}

function memberText(context: Context, { name: shown, via, field }: MergedMember): Sql[] {
  const found = fieldValue(context, 0, via, field);
  const text = context.dialect.json(field.collection ? 'collection' : field.type.kind, found);
  return [constantText(`,${label(shown)}`), text];
}

/** The pictures of a person or an office in their own order: `[{"Id","Name","Uri"}, …]`. */
function imagesText(context: Context, images: Navigation, files: FileAddress): Sql[] {
  const { target } = images;
  if (!context.model.stores(target)) return [constantText(',"Images":[]')];
  const { dialect, model } = context;
  const layout = model.layout(target);
  const alias = context.alias();
  const shown = (field: string): Sql =>
    layout.fields.some((each) => each.name === field) ? column(alias, field) : sql`NULL`;
  const uri = sql`coalesce(${files(column(alias, '_file'))}, ${shown('MediaURL')})`;
  const parts = [
    ...markIfDamaged(context, target, column(alias, '_key')),
    constantText('{"Id":'),
    dialect.json('string', column(alias, '_key')),
    constantText(',"Name":'),
    dialect.json('string', shown('ShortDescription')),
    constantText(',"Uri":'),
    dialect.json('string', uri),
    constantText('}'),
  ];
  const where = all([
    ...childConditions(context, images, alias, column('r', '_key'), 'r'),
    ...visibleRows(context, layout, alias),
  ]);
  const order = sql`${dialect.order(column(alias, '_rank'), false)}, ${column(alias, '_key')}`;
  const list = sql`(SELECT ${concat(parts)} AS x FROM ${name(layout.columnsTable)} ${name(alias)} WHERE ${where} ORDER BY ${order}) i`;
  const joined = sql`(SELECT ${dialect.aggregateTexts(sql`x`)} FROM ${list})`;
  return [constantText(',"Images":['), joined, constantText(']')];
}
