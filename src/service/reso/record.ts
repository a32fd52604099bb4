/** One record, its custom fields, or one of its fields (OData 4.01 protocol, 11.2.2 and 11.2.4). */

import { type ResoShape, shapeOfCustomFields } from '../../compile/read.ts';
import { statedType } from '../../dictionary/csdl/document.ts';
import { CUSTOM_FIELDS } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { bindOptions, hasCustomFields } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { basisOfRecord } from '../cache/response-basis.ts';
import type { Reply } from '../exchange.ts';
import { replyOrNotModified, weakTag } from '../reply/conditions.ts';
import { readRecord, recordRequest, resolvePath, type Target } from './resolve.ts';
import {
  contextFields,
  contextMember,
  countMember,
  negotiate,
  openJsonObject,
  plainText,
  preferenceHeaders,
  type ResoRequest,
  refuseOptionsOfEvents,
  requireJson,
  resoJson,
  shapeOf,
} from './resource-request.ts';
import { recordAsRequested } from './value-forms.ts';

type RecordPath = ResourcePath & { kind: 'record' };
type FieldPath = ResourcePath & { kind: 'field' };
type CustomPath = ResourcePath & { kind: 'custom' };

const NOTHING: Reply = { status: 204, headers: {}, body: [] };

/** One record. Its entity tag covers the agent and office data in it. */
export async function record(request: ResoRequest, path: RecordPath): Promise<Reply> {
  requireJson(request);
  const { exchange, options, session } = request;
  const query = bindOptions('record', options, path.resource, session.view.schema);
  refuseOptionsOfEvents(query);
  const found = await resolvePath(request, path);
  if (found.kind === 'nothing') return NOTHING;
  if (found.kind !== 'record') throw new Error('A path to a record was resolved to a collection');
  exchange.timings.start('store');
  const shape = await shapeOf(request, query);
  const stored = await requireText(request, found.target, shape);
  exchange.timings.start('encode');
  const text = recordAsRequested(request, query, stored);
  const etag = weakTag(text);
  const head = {
    ...contextMember(request, `#${path.resource.resource.name}${contextFields(query)}/$entity`),
    ...(request.level === 'full' ? { '@odata.etag': etag } : {}),
  };
  const reply = taggedJson(request, etag, [openJsonObject(head, ''), text.subarray(1)], 1);
  // The result of a longer path also depends on other records, so it is not cached.
  if (path.steps.length > 0) return reply;
  const by = { model: session.model, damaged: request.context.read.damaged };
  return { ...reply, basis: basisOfRecord(by, recordRequest(request, found.target, shape)) };
}

/**
 * The custom fields of a record. They are not in an entity set, but exist only below their record. The response is a list with one
 * element, or with none if the key does not see the resource.
 */
export async function customFields(request: ResoRequest, path: CustomPath): Promise<Reply> {
  const { exchange, options, session } = request;
  const { give, resource } = path;
  if (give === 'json') requireJson(request);
  const kind = give === 'count' ? 'customCount' : 'custom';
  const query = bindOptions(kind, options, resource, session.view.schema);
  const found = await resolvePath(request, path);
  if (found.kind !== 'record') throw platError('recordNotFound', { resource: resource.resource.name });
  exchange.timings.start('store');
  const stored = await requireText(request, found.target, shapeOfCustomFields(await shapeOf(request, query)));
  exchange.timings.start('encode');
  const count = hasCustomFields(resource) ? 1 : 0;
  if (give === 'count') return plainText(String(count));
  const isGiven = count > 0 && (query.skip ?? 0) === 0 && query.top !== 0;
  const text = isGiven ? recordAsRequested(request, query, stored) : new Uint8Array(0);
  const head = {
    ...contextMember(request, `#${resource.resource.name}/${CUSTOM_FIELDS}${contextFields(query)}`),
    ...(query.count ? countMember(request, count) : {}),
  };
  return taggedJson(request, weakTag(text), [openJsonObject(head, '"value":['), text, ']}'], isGiven ? 1 : 0);
}

function taggedJson(request: ResoRequest, etag: string, body: Reply['body'], rows: number): Reply {
  const headers = { 'content-type': resoJson(request), etag, ...preferenceHeaders(request.preferences) };
  return replyOrNotModified(request.exchange.headers, { status: 200, headers, body, rows });
}

/** @throws PlatError `recordNotFound` */
async function requireText(request: ResoRequest, target: Target, shape: ResoShape): Promise<Uint8Array> {
  const text = await readRecord(request, target, shape);
  if (text === undefined) throw platError('recordNotFound', { resource: target.resource.name });
  return text;
}

/** One field of one record, as JSON or plain text, or the number of its values. */
export async function field(request: ResoRequest, path: FieldPath): Promise<Reply> {
  const { exchange, options, session } = request;
  const { give, field: named, resource } = path;
  if (give === 'json') requireJson(request);
  const query = bindOptions(give === 'count' ? 'values' : 'field', options, resource, session.view.schema);
  if (options.system.has('format') && give === 'text') negotiate(request, ['text/plain']);
  const found = await resolvePath(request, path);
  if (found.kind !== 'record') return NOTHING;
  exchange.timings.start('store');
  const shape = await shapeOf(request, { ...query, selection: { all: false, fields: [named], hidden: [] } });
  const stored = await requireText(request, found.target, shape);
  const text = recordAsRequested(request, query, stored);
  const values: Record<string, unknown> = JSON.parse(Buffer.from(text).toString());
  const value = values[named.name];
  if (give === 'count') return plainText(String(Array.isArray(value) ? value.length : 0));
  if (value === null || value === undefined) return NOTHING;
  if (give === 'text') return plainText(typeof value === 'string' ? value : JSON.stringify(value));
  const key = found.target.key.replaceAll("'", "''");
  const type = shape.control && statedType(named, shape.control.before, shape.control.enumerations);
  const head = {
    ...contextMember(request, `#${resource.resource.name}('${key}')/${named.name}`),
    '@odata.type': type,
  };
  const body = [JSON.stringify({ ...head, value })];
  return { status: 200, headers: { 'content-type': resoJson(request) }, body, rows: 1 };
}
