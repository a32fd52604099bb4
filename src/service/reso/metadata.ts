/** The descriptions of the RESO interface: `$metadata` and the service document. */
import { tracksChanges } from '../../access/index.ts';
import { csdlDocument } from '../../dictionary/csdl/document.ts';
import { csdlJson } from '../../dictionary/csdl/json.ts';
import type { CsdlVersion } from '../../dictionary/csdl/model.ts';
import { csdlXml } from '../../dictionary/csdl/xml.ts';
import { requireNoOptions } from '../../query/odata/query.ts';
import { BoundedCache, bytesOfText } from '../../shared/bounded-cache.ts';
import { objectId } from '../../shared/memoize.ts';
import { withViewTag } from '../access/view-cache.ts';
import type { Reply } from '../exchange.ts';
import { describedBy } from '../front/paths.ts';
import { chooseType, negotiateVersion } from '../http/negotiation.ts';
import { replyOrNotModified, weakTag } from '../reply/conditions.ts';
import { type Enumerations, enumerationsOf } from './enumerations.ts';
import { contextMember, negotiate, type ResoRequest, requireJson, resoJson } from './resource-request.ts';

/** Clients that predate RFC 7303 request XML as text. */
const XML = ['application/xml', 'text/xml'] as const;
type Format = (typeof XML)[number] | 'application/json';

interface MetadataDocument {
  readonly text: string;
  readonly etag: string;
}

/** Documents that have been written, by the view that they describe. */
const documentCache = new BoundedCache<MetadataDocument>('metadata documents', { bytes: 32 * 1024 * 1024 });

/** `$metadata`: what the key may see, as XML or JSON (OData 4.01 protocol, 11.1.2; specification 4.1). */
export async function metadata(request: ResoRequest): Promise<Reply> {
  const { exchange, session } = request;
  requireNoOptions(request.options, '$metadata');
  const version = negotiateVersion(exchange.headers);
  const format = formatOf(request, version);
  const { text, etag } = documentOf(session, version, format, await enumerationsOf(request));
  const headers = { 'content-type': `${format}; charset=utf-8`, etag };
  const reply: Reply = { status: 200, headers, body: [text] };
  return withViewTag(replyOrNotModified(exchange.headers, reply), session);
}

/**
 * The format of `$metadata`. The floor plan interface offers XML only. Clients of OData 4.0 send the same Accept header as in
 * requests for records, but can only read XML, because JSON was introduced in 4.01. They get JSON only through `$format`.
 */
function formatOf(request: ResoRequest, version: CsdlVersion): Format {
  const { exchange, options } = request;
  const isFloorPlans = exchange.surface.name === 'floorplans';
  const format = negotiate<Format>(request, isFloorPlans ? XML : [...XML, 'application/json']);
  if (format !== 'application/json' || version !== '4.0' || options.system.has('format')) return format;
  return chooseType(exchange.headers.accept, XML) ?? 'application/xml';
}

function documentOf(
  { view, model }: ResoRequest['session'],
  version: CsdlVersion,
  format: Format,
  enumerations: Enumerations | undefined,
): MetadataDocument {
  const id = `${objectId(view)} ${version} ${format} ${enumerations?.id ?? ''}`;
  const known = documentCache.get(id);
  if (known !== undefined) return known;
  const document = csdlDocument({
    version,
    enumerations: enumerations?.members,
    tracks: (resource) => tracksChanges(view, resource),
    resources: [...model.dictionary.resources.values()].filter(view.publishes).map((resource) => ({
      resource,
      fields: view.fieldsOf(resource),
      navigations: [...resource.navigations.values()].filter(({ target }) =>
        view.publishes(model.resource(target)),
      ),
    })),
  });
  const text = format === 'application/json' ? csdlJson(document) : csdlXml(document);
  return documentCache.put(id, { text, etag: weakTag(text) }, bytesOfText(text));
}

/** The entity sets that the key may read (OData 4.01 JSON format, 5). */
export function serviceDocument(request: ResoRequest): Reply {
  requireNoOptions(request.options, 'the service document');
  requireJson(request);
  const { session, exchange } = request;
  const value = [...session.view.schema.entitySets()].map((name) => ({ name, kind: 'EntitySet', url: name }));
  const headers = { 'content-type': resoJson(request), ...describedBy(exchange.base) };
  return { status: 200, headers, body: [JSON.stringify({ ...contextMember(request, ''), value })] };
}
