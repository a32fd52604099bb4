/**
 * The control information of `odata.metadata=full`: the address of a record and the types of its values (OData JSON
 * format 4.01, 3.1.2 and 4.6). It is the same for all records of a type except for the key.
 */
import { EDM_NAMESPACE, statedType } from '../../dictionary/csdl/document.ts';
import type { Field, Resource } from '../../dictionary/index.ts';
import type { Computed } from '../../query/request.ts';
import { typeOf, type ValueType } from '../../query/tree.ts';
import type { Dialect } from '../dialect.ts';
import { bind, column, constantText, type Sql, sql } from '../fragment.ts';
import type { ResoShape } from '../read.ts';
import type { TextSource } from './source.ts';

/** Stands in place of a record's key in texts that are composed once. No key in a URL contains it. */
const KEY_MARK = '<key>';

/** The key of a record, encoded for a URL. */
function keyInUrl(dialect: Dialect, { fields, key }: Resource, alias: string): Sql {
  const stored = column(alias, '_key');
  // Numeric keys are stored with leading zeros, so that they sort.
  if (fields.get(key)?.type.kind === 'integer') return sql`coalesce(nullif(ltrim(${stored}, '0'), ''), '0')`;
  return dialect.encodeForUrl(sql`replace(${stored}, '''', '''''')`);
}

/** The address of a record as JSON text, with a mark in place of the key. */
export function addressText(root: string, { name, fields, key }: Resource): string {
  const quote = fields.get(key)?.type.kind === 'integer' ? '' : "'";
  return `${JSON.stringify(`${root}${name}`).slice(1, -1)}(${quote}${KEY_MARK}${quote})`;
}

/** Replaces the mark in a text by the key of a record. */
export const insertKey = (text: string, dialect: Dialect, resource: Resource, alias: string): Sql =>
  sql`replace(${bind(text)}, ${bind(KEY_MARK)}, ${keyInUrl(dialect, resource, alias)})`;

/** The members with the address and type of a record, each with a trailing comma. */
export function controlMembers(source: TextSource, shape: ResoShape): Sql[] {
  const { control } = shape;
  if (control === undefined) return [];
  const { context, view, layout, alias } = source;
  const { resource } = layout;
  const kind = constantText(`"@odata.type":"#${EDM_NAMESPACE}.${resource.name}",`);
  if (control.isPart) return [kind];
  const address = addressText(shape.root, resource);
  const expanded = new Set(shape.expansions.map(({ navigation }) => navigation.name));
  const links = [...resource.navigations.values()]
    .filter(
      ({ name, target }) =>
        view.publishes(context.model.resource(target)) && (shape.selection.all || expanded.has(name)),
    )
    .map(({ name }) => `"${name}@odata.navigationLink":"${address}/${name}",`);
  const places = `"@odata.id":"${address}","@odata.readLink":"${address}",${links.join('')}`;
  return [kind, insertKey(places, context.dialect, resource, alias)];
}

/**
 * The member with the type of a field, with a trailing comma. It directly precedes the field itself, because a widespread client
 * (Apache Olingo) mistakes the second of two consecutive annotations for a value.
 */
export function typeOfField({ control }: ResoShape, field: Field): string {
  if (control === undefined) return '';
  return typeMember(field.name, statedType(field, control.before, control.enumerations));
}

/** The member with the type of a computed property, with a trailing comma. */
export function typeOfComputed({ control }: ResoShape, { name, expression }: Computed): string {
  if (control === undefined) return '';
  const type = COMPUTED_NAMES[typeOf(expression)];
  return typeMember(name, type === undefined ? undefined : `${control.before}${type}`);
}

const typeMember = (name: string, type: string | undefined): string =>
  type === undefined ? '' : `"${name}@odata.type":"${type}",`;

/** The fields of a returned record, in their order. */
export function fieldsOf({ view, layout }: TextSource, { selection }: ResoShape): readonly Field[] {
  if (selection.all) return view.fieldsOf(layout.resource);
  const key = layout.resource.fields.get(layout.resource.key);
  return selection.fields.length > 0 || key === undefined ? selection.fields : [key];
}

/** The types that JSON does not show. */
const COMPUTED_NAMES: Readonly<Partial<Record<ValueType, string>>> = {
  integer: 'Int64',
  decimal: 'Decimal',
  date: 'Date',
  timestamp: 'DateTimeOffset',
  time: 'TimeOfDay',
  duration: 'Duration',
  point: 'GeographyPoint',
  polygon: 'GeographyPolygon',
};
