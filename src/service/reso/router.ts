/**
 * The paths of the RESO interface and their handlers: to add a kind of path, add it to `ResourcePath`, and add a row here and in
 * `description/reso-paths.ts`. Neither table compiles without the row.
 */
import { parseResourcePath, type ResourcePath } from '../../query/odata/resource-path.ts';
import type { AuthenticatedExchange, Reply } from '../exchange.ts';
import { collection, count } from './collection.ts';
import { DIGESTS, digests } from './digests.ts';
import { metadata, serviceDocument } from './metadata.ts';
import { customFields, field, record } from './record.ts';
import { type ResoRequest, resoRequest } from './resource-request.ts';

type Kind = ResourcePath['kind'];
type PathOf = {
  readonly [K in Kind]: K extends 'service' | 'metadata'
    ? { readonly kind: K }
    : Extract<ResourcePath, { readonly kind: K }>;
};

const ROUTES: {
  readonly [K in Kind]: (request: ResoRequest, path: PathOf[K]) => Promise<Reply> | Reply;
} = { service: serviceDocument, metadata, collection, record, count, field, custom: customFields };

const answer = <K extends Kind>(kind: K, request: ResoRequest, path: PathOf[K]): Promise<Reply> | Reply =>
  ROUTES[kind](request, path);

/** Answers a request of the RESO interface. @param rawPath the path below the service root, percent-encoded */
export function answerReso(asked: AuthenticatedExchange, rawPath: string): Promise<Reply> | Reply {
  asked.exchange.timings.start('parse');
  const request = resoRequest(asked);
  // Many clients add a slash to a root that already ends with one, or to a path. No key is empty, so additional slashes are
  // ignored.
  const normalizedPath = rawPath.split('/').filter(Boolean).join('/');
  const [, digestResource] = DIGESTS.exec(normalizedPath) ?? [];
  if (digestResource !== undefined) return digests(request, digestResource);
  const path = parseResourcePath(normalizedPath, request.session.view.schema, request.options.aliases);
  return answer(path.kind, request, path);
}
