/** Keys of records in a delta: as values of a filter, and those of the records that match a filter. */
import { plainShape, type RecordQuery } from '../../compile/read.ts';
import { keyField } from '../../dictionary/index.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { Literal } from '../../query/tree.ts';
import { keyText } from '../../records/parsed-record.ts';
import { queryContext, signingFor } from '../exchange.ts';
import type { ResoRequest } from './resource-request.ts';

export const keyLiteral = (key: string, isNumber: boolean): Literal =>
  isNumber
    ? { kind: 'literal', type: 'integer', value: Number(key) }
    : { kind: 'literal', type: 'string', value: key };

/** The keys of the records that the key sees and that match the filter, in order. */
export async function readKeys(
  { request, query: { resource } }: { readonly request: ResoRequest; readonly query: CollectionQuery },
  match: Pick<RecordQuery, 'filter' | 'search'>,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<{ readonly keys: readonly string[]; readonly more: boolean }> {
  const { context, session, root } = request;
  if (!session.model.stores(resource.name)) return { keys: [], more: false };
  const page = await context.store.page(
    {
      query: { ...queryContext(session), resource, ...match },
      position: after === '' ? { kind: 'start' } : { kind: 'after-key', key: after },
      limit,
      shape: plainShape([keyField(resource)], root),
      files: signingFor(request),
    },
    context.read,
  );
  const rows: Record<string, string | number>[] = JSON.parse(`[${Buffer.from(page.body).toString()}]`);
  page.release?.();
  const stored = rows.flatMap((row) => keyText(resource, row[resource.key]) ?? []);
  return { keys: stored, more: page.more };
}
