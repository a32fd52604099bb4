import { bindOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { asking, signingFor } from '../context.ts';
import type { Reply } from '../exchange.ts';
import { readPage } from '../paging/page-reader.ts';
import { NOTHING_STORED, type PageWish } from '../paging/page-wish.ts';
import { indexHeaders } from './collection.ts';
import { plainText } from './record.ts';
import { resolve } from './resolve.ts';
import { type ResoRequest, shapeOf } from './resource-request.ts';

type CountPath = ResourcePath & { kind: 'count' };

/** The number of records in a collection, as plain text (OData 4.01 protocol, 11.2.10). */
export async function count(request: ResoRequest, path: CountPath): Promise<Reply> {
  const { context, exchange, session, options } = request;
  const query = bindOptions('count', options, path.resource, session.view.schema);
  const found = await resolve(request, path);
  if (found.kind !== 'collection') throw new Error('A path to a count leads to a collection');
  exchange.timings.start('store');
  const { filter, search } = query;
  const wish: PageWish = {
    keyId: session.key.id,
    query: { ...asking(session), resource: found.resource, filter, search, under: found.under },
    limit: 0,
    skip: 0,
    shape: shapeOf(request, query),
    files: signingFor(context, exchange, session),
    counts: true,
    taken: exchange.taken,
  };
  const answer = found.isBare ? NOTHING_STORED : await readPage(context, wish);
  const reply = plainText(String(answer.count ?? 0));
  return { ...reply, headers: { ...reply.headers, ...indexHeaders(answer) } };
}
