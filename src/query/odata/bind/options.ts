import { CUSTOM_FIELDS } from '../../../dictionary/index.ts';
import { platError } from '../../../errors/index.ts';
import type { CollectionQuery } from '../../request.ts';
import type { ResourceSchema, Schema } from '../../schema.ts';
import { keyOfSkipToken } from '../../skip-token.ts';
import type { Expression } from '../../tree.ts';

import { parseExpressionText } from '../syntax/expression.ts';
import type { SystemOption } from '../syntax/option-name.ts';
import type { RawOptions } from '../syntax/query-string.ts';
import { parseOptions } from '../syntax/request.ts';
import { customSelection } from './custom-fields.ts';
import { nothingExpanded } from './environment.ts';
import { bindFilter, bindQuery, queryScope } from './query.ts';

const COLLECTION = new Set<SystemOption>([
  'filter',
  'orderby',
  'select',
  'expand',
  'compute',
  'search',
  'count',
  'top',
  'skip',
  'skiptoken',
  'format',
]);
const SINGLE = new Set<SystemOption>(['select', 'expand', 'compute', 'format']);
const COUNT = new Set<SystemOption>(['filter', 'search']);
const FIELD = new Set<SystemOption>(['format']);
const CUSTOM = new Set<SystemOption>(['select', 'count', 'top', 'skip', 'format']);
const NONE = new Set<SystemOption>();

/** The options that each kind of path takes. */
export const OPTIONS_OF = {
  collection: COLLECTION,
  record: SINGLE,
  count: COUNT,
  field: FIELD,
  custom: CUSTOM,
} as const;

/**
 * What a request asks of a collection.
 * @throws the errors of each option: syntax, fieldUnknown, typeMismatch, filterTooLarge, optionInvalid,
 *   optionsConflict, optionRepeated, optionUnknown; notImplemented for what OData has and this service has not
 */
export function bindCollection(raw: RawOptions, resource: ResourceSchema, schema: Schema): CollectionQuery {
  return bind(raw, resource, schema, COLLECTION, 'a collection');
}

/** What a request asks of one record: fields, expansions and computed values. Errors as of `bindCollection`. */
export function bindSingle(raw: RawOptions, resource: ResourceSchema, schema: Schema): CollectionQuery {
  return bind(raw, resource, schema, SINGLE, 'a single record');
}

/** What a request counts that ends in `/$count`. Errors as of `bindCollection`. */
export function bindCount(raw: RawOptions, resource: ResourceSchema, schema: Schema): CollectionQuery {
  return bind(raw, resource, schema, COUNT, 'a count');
}

/**
 * The record of a field that is asked for by itself; only a format may be asked of it, and nothing of the number of its
 * values. Errors as of `bindCollection`.
 */
export function bindField(
  raw: RawOptions,
  resource: ResourceSchema,
  schema: Schema,
  give: 'json' | 'text' | 'count',
): CollectionQuery {
  return give === 'count'
    ? bind(raw, resource, schema, NONE, 'a count of values')
    : bind(raw, resource, schema, FIELD, 'a single field');
}

/** What a request asks of the custom fields of one record, which are a list of one. Errors as of `bindCollection`. */
export function bindCustom(
  raw: RawOptions,
  resource: ResourceSchema,
  schema: Schema,
  give: 'json' | 'count',
): CollectionQuery {
  if (give === 'count') return bind(raw, resource, schema, NONE, `a count of ${CUSTOM_FIELDS}`);
  const query = bind(raw, resource, schema, CUSTOM, `${CUSTOM_FIELDS}, a list of one`);
  return { ...query, selection: customSelection(query.selection, resource, '$select') };
}

/**
 * Refuses all options but a format, for documents that the service writes of itself.
 * @throws PlatError `requestMalformed`, `notImplemented`
 */
export function requireNoOptions(raw: RawOptions, where: string): void {
  refuseOthers(raw, FIELD, where);
}

function bind(
  raw: RawOptions,
  resource: ResourceSchema,
  schema: Schema,
  allowed: ReadonlySet<SystemOption>,
  where: string,
): CollectionQuery {
  refuseOthers(raw, allowed, where);
  const expanding = { expansions: 0, expanded: nothingExpanded() };
  const around = { schema, aliases: new Map(), isExpansion: false, expanding };

  const query = bindQuery(around, resource, parseOptions(raw));
  const skipToken = raw.system.get('skiptoken');
  return skipToken === undefined ? query : { ...query, skipToken: keyOfSkipToken('$skiptoken', skipToken) };
}

function refuseOthers(raw: RawOptions, allowed: ReadonlySet<SystemOption>, where: string): void {
  for (const name of raw.system.keys()) {
    const option = `$${name}`;
    if (!COLLECTION.has(name)) {
      throw platError('notImplemented', { option, what: 'this option' }, { target: option });
    }
    if (!allowed.has(name)) {
      throw platError(
        'requestMalformed',
        { reason: `${option} does not apply to ${where}` },
        { target: option },
      );
    }
  }
}

/**
 * A filter by itself, such as that of a role.
 * @throws syntax, fieldUnknown, typeMismatch, filterTooLarge, notImplemented, all with the option `$filter`
 */
export function parseFilter(text: string, resource: ResourceSchema, schema: Schema): Expression {
  const source = { option: '$filter', text };
  const query = queryScope(schema, resource, false, new Map(), new Map(), nothingExpanded());
  return bindFilter(query, { source, value: parseExpressionText(source) });
}
