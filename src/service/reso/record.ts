import { partShape } from '../../compile/read.ts';
import { statedType } from '../../dictionary/csdl/document.ts';
import { CUSTOM_FIELDS, type Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { bindOptions, hasCustomFields } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import type { CollectionQuery } from '../../query/request.ts';
import { type Reply, signingFor } from '../exchange.ts';
import { hasTag, weakTag } from '../reply/conditions.ts';
import { recordAsConfigured, valueAsConfigured } from './enumerations.ts';
import { resolve, type Target, targetQuery } from './resolve.ts';
import {
  begun,
  contextFields,
  contextMember,
  negotiate,
  preferenceHeaders,
  type ResoRequest,
  requireJson,
  resoJson,
  shapeOf,
} from './resource-request.ts';

type RecordPath = ResourcePath & { kind: 'record' };
type FieldPath = ResourcePath & { kind: 'field' };
type CustomPath = ResourcePath & { kind: 'custom' };

const NOTHING: Reply = { status: 204, headers: {}, body: [] };

/** One record (OData 4.01 protocol, 11.2.2). Its tag covers the agent and office data in it. */
export async function record(request: ResoRequest, path: RecordPath): Promise<Reply> {
  requireJson(request);
  const { exchange, options, preferences, session } = request;
  const query = bindOptions('record', options, path.resource, session.view.schema);
  const found = await resolve(request, path);
  if (found.kind === 'nothing') return NOTHING;
  if (found.kind !== 'record') throw new Error('A path to a record leads to one');
  exchange.timings.start('store');
  const stored = await readRecord(request, found.target, query);
  exchange.timings.start('encode');
  const text = recordAsConfigured(request, query, stored);
  const tag = weakTag(text);
  const headers = { etag: tag, ...preferenceHeaders(preferences) };
  if (hasTag(exchange.headers['if-none-match'], tag)) return { status: 304, headers, body: [] };
  const answer = { status: 200, headers: { 'content-type': resoJson(request), ...headers }, rows: 1 };
  const head = {
    ...contextMember(request, `#${path.resource.resource.name}${contextFields(query)}/$entity`),
    ...(request.level === 'full' ? { '@odata.etag': tag } : {}),
  };
  return { ...answer, body: [begun(head, ''), text.subarray(1)] };
}

/**
 * The custom fields of a record, which are in no entity set, but where it is: a list of one, empty where the key sees none
 * of the resource.
 */
export async function customFields(request: ResoRequest, path: CustomPath): Promise<Reply> {
  const { exchange, options, preferences, session } = request;
  const { give, resource } = path;
  if (give === 'json') requireJson(request);
  const kind = give === 'count' ? 'customCount' : 'custom';
  const query = bindOptions(kind, options, resource, session.view.schema);
  const found = await resolve(request, path);
  if (found.kind !== 'record') throw platError('recordNotFound', { resource: resource.resource.name });
  exchange.timings.start('store');
  const stored = await readRecord(request, found.target, query, 'custom fields');
  exchange.timings.start('encode');
  const count = hasCustomFields(resource) ? 1 : 0;
  if (give === 'count') return plainText(String(count));
  const isGiven = count > 0 && (query.skip ?? 0) === 0 && query.top !== 0;
  const text = isGiven ? recordAsConfigured(request, query, stored) : new Uint8Array(0);
  const head = {
    ...contextMember(request, `#${resource.resource.name}/${CUSTOM_FIELDS}${contextFields(query)}`),
    ...(query.count ? { '@odata.count': count } : {}),
  };
  const tag = weakTag(text);
  const headers = { etag: tag, ...preferenceHeaders(preferences) };
  if (hasTag(exchange.headers['if-none-match'], tag)) return { status: 304, headers, body: [] };
  return {
    status: 200,
    headers: { 'content-type': resoJson(request), ...headers },
    rows: isGiven ? 1 : 0,
    body: [begun(head, '"value":['), text, ']}'],
  };
}

async function readRecord(
  request: ResoRequest,
  target: Target,
  query: CollectionQuery,
  part?: 'custom fields',
): Promise<Uint8Array> {
  const { context, exchange, session } = request;
  const files = signingFor(context, exchange, session);
  const shape = shapeOf(request, query);
  const wish = {
    query: targetQuery(request, target),
    key: target.key,
    shape: part === undefined ? shape : partShape(shape),
    files,
  };
  const body = await context.store.record(wish, context.read);
  if (body === undefined) throw platError('recordNotFound', { resource: target.resource.name });
  return body;
}

/** One field of one record, as JSON, as bare text, or the number of its values (OData 4.01 protocol, 11.2.4). */
export async function field(request: ResoRequest, path: FieldPath): Promise<Reply> {
  const { exchange, options, session } = request;
  if (path.give === 'json') requireJson(request);
  const query = bindOptions(
    path.give === 'count' ? 'values' : 'field',
    options,
    path.resource,
    session.view.schema,
  );
  if (options.system.has('format') && path.give === 'text') negotiate(request, ['text/plain']);
  const found = await resolve(request, path);
  if (found.kind !== 'record') return NOTHING;
  const selection = { all: false, fields: [path.field], hidden: [] };
  exchange.timings.start('store');
  const { control } = shapeOf(request, query);
  const text = await readRecord(request, found.target, { ...query, selection });
  const values: Record<string, unknown> = JSON.parse(Buffer.from(text).toString());
  const value = valueAsConfigured(request, path.field, values[path.field.name]);
  if (path.give === 'count') return plainText(String(Array.isArray(value) ? value.length : 0));
  if (value === null || value === undefined) return NOTHING;
  if (path.give === 'text') return plainText(typeof value === 'string' ? value : JSON.stringify(value));
  const type =
    control === undefined ? undefined : statedType(path.field, control.before, session.view.enumerations);
  const head = {
    ...contextMember(request, `#${fieldContext(path, found.target, path.field)}`),
    ...(type === undefined ? {} : { '@odata.type': type }),
  };
  const body = JSON.stringify({ ...head, value });
  return { status: 200, headers: { 'content-type': resoJson(request) }, body: [body], rows: 1 };
}

function fieldContext({ resource }: FieldPath, { key }: Target, { name }: Field): string {
  return `${resource.resource.name}('${key.replaceAll("'", "''")}')/${name}`;
}

export function plainText(text: string): Reply {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: [text] };
}
