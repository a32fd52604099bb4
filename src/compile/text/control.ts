import { customTypeName, EDM_NAMESPACE, statedType } from '../../dictionary/csdl/document.ts';
import type { Field, Resource } from '../../dictionary/index.ts';
import type { Computed } from '../../query/request.ts';
import type { ValueType } from '../../query/tree.ts';
import type { Dialect } from '../dialect.ts';
import { typeOf } from '../expression.ts';
import { bind, column, constantText, type Sql, sql } from '../fragment.ts';
import type { ResoShape } from '../read.ts';
import type { TextSource } from './source.ts';

/**
 * Where a record lies and what its values are, for clients that ask for it with each record: the control information of
 * `odata.metadata=full` (OData JSON format 4.01, 3.1.2 and 4.6). It is the same for all records of a kind but for the key.
 */

/** Stands for a record's key in texts that are made once; no key of a URL holds it. */
const KEY_MARK = '<key>';

/** The key of a record as it stands in a URL. */
export function keyInUrl(dialect: Dialect, { fields, key }: Resource, alias: string): Sql {
  const stored = column(alias, '_key');
  // Numbers are stored with zeros before them, so that they are in order.
  if (fields.get(key)?.type.kind === 'integer') return sql`coalesce(nullif(ltrim(${stored}, '0'), ''), '0')`;
  return dialect.inUrl(sql`replace(${stored}, '''', '''''')`);
}

/** The address of a record with a mark in place of its key, as it stands in JSON. */
export function addressText(root: string, { name, fields, key }: Resource): string {
  const quote = fields.get(key)?.type.kind === 'integer' ? '' : "'";
  return `${JSON.stringify(`${root}${name}`).slice(1, -1)}(${quote}${KEY_MARK}${quote})`;
}

/** A text with the key of a record in place of the mark. */
export const withKey = (text: string, dialect: Dialect, resource: Resource, alias: string): Sql =>
  sql`replace(${bind(text)}, ${bind(KEY_MARK)}, ${keyInUrl(dialect, resource, alias)})`;

/** The members of a record that say where it lies and what it is, each with a comma behind it. */
export function controlMembers(source: TextSource, shape: ResoShape): Sql[] {
  const { control } = shape;
  if (control === undefined) return [];
  const { context, view, layout, alias } = source;
  const { resource } = layout;
  if (control.isPart === true) return [constantText(kindOf(customTypeName(resource)))];
  const address = addressText(shape.root, resource);
  const expanded = new Set(shape.expansions.map(({ navigation }) => navigation.name));
  const links = [...resource.navigations.values()]
    .filter(
      ({ name, target }) =>
        view.publishes(context.model.resource(target)) && (shape.selection.all || expanded.has(name)),
    )
    .map(({ name }) => `"${name}@odata.navigationLink":"${address}/${name}",`);
  const places = `"@odata.id":"${address}","@odata.readLink":"${address}",${links.join('')}`;
  return [constantText(kindOf(resource.name)), withKey(places, context.dialect, resource, alias)];
}

const kindOf = (type: string): string => `"@odata.type":"#${EDM_NAMESPACE}.${type}",`;

/**
 * The type of a field's values, with a comma behind it: right before the field itself, since a widespread client
 * (Apache Olingo) takes two of them in a row for a value.
 */
export function typeOfField({ view }: TextSource, { control }: ResoShape, field: Field): string {
  if (control === undefined) return '';
  return typeMember(field.name, statedType(field, control.before, view.enumerations));
}

/** The same of a computed property. */
export function typeOfComputed({ control }: ResoShape, { name, expression }: Computed): string {
  if (control === undefined) return '';
  const type = computedName(typeOf(expression));
  return typeMember(name, type === undefined ? undefined : `${control.before}${type}`);
}

const typeMember = (name: string, type: string | undefined): string =>
  type === undefined ? '' : `"${name}@odata.type":"${type}",`;

/** The fields that a record is given with, in their order. */
export function fieldsOf({ view, layout }: TextSource, { selection }: ResoShape): readonly Field[] {
  if (selection.all) return view.fieldsOf(layout.resource);
  const key = layout.resource.fields.get(layout.resource.key);
  return selection.fields.length > 0 || key === undefined ? selection.fields : [key];
}

function computedName(type: ValueType): string | undefined {
  switch (type) {
    case 'integer':
      return 'Int64';
    case 'decimal':
      return 'Decimal';
    case 'date':
      return 'Date';
    case 'timestamp':
      return 'DateTimeOffset';
    case 'time':
      return 'TimeOfDay';
    case 'duration':
      return 'Duration';
    case 'point':
      return 'GeographyPoint';
    case 'polygon':
      return 'GeographyPolygon';
    case 'string':
    case 'boolean':
    case 'null':
      return undefined;
  }
}
