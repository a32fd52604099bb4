import type { RawOptions } from '../../query/odata/query.ts';
import { parseResourcePath } from '../../query/odata/resource-path.ts';
import type { Exchange, Reply, ServiceContext, Session } from '../exchange.ts';
import { collection, count } from './collection.ts';
import { DIGESTS, digests } from './digests.ts';
import { metadata, serviceDocument } from './metadata.ts';
import { customFields, field, record } from './record.ts';
import { type ResoRequest, resoRequest } from './resource-request.ts';

/** Answers a request of the RESO interface. The path is below the service root, percent-encoded. */
export function reso(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  path: string,
): Promise<Reply> | Reply {
  exchange.timings.start('parse');
  const request = resoRequest(context, exchange, session);
  return route(request, withoutEmptySegments(path), request.options);
}

/** Many clients put a slash behind a root that ends with one, or behind a path: no key is empty, so it says nothing. */
const withoutEmptySegments = (path: string): string => path.split('/').filter(Boolean).join('/');

function route(request: ResoRequest, rawPath: string, { aliases }: RawOptions): Promise<Reply> | Reply {
  const [, compared] = DIGESTS.exec(rawPath) ?? [];
  if (compared !== undefined) return digests(request, compared);
  const path = parseResourcePath(rawPath, request.session.view.schema, aliases);
  switch (path.kind) {
    case 'service':
      return serviceDocument(request);
    case 'metadata':
      return metadata(request);
    case 'collection':
      return collection(request, path);
    case 'record':
      return record(request, path);
    case 'count':
      return count(request, path);
    case 'field':
      return field(request, path);
    case 'custom':
      return customFields(request, path);
  }
}
