import { requireNoOptions } from '../../query/odata/query.ts';
import type { Reply } from '../exchange.ts';
import { describedBy } from '../front/paths.ts';
import { contextMember, type ResoRequest, requireJson, resoJson } from './resource-request.ts';

/** The entity sets that the key may read (OData 4.01 JSON format, 5). */
export function serviceDocument(request: ResoRequest): Reply {
  requireNoOptions(request.options, 'the service document');
  requireJson(request);
  const { session } = request;
  const value = [...session.view.schema.entitySets()].map((name) => ({ name, kind: 'EntitySet', url: name }));
  const body = JSON.stringify({ ...contextMember(request, ''), value });
  return {
    status: 200,
    headers: { 'content-type': resoJson(request), ...describedBy(request.exchange.base) },
    body: [body],
  };
}
