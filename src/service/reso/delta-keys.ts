/** The keys of the records that a delta returns: as values of a filter, and those that match one. */
import type { RecordQuery, ResoShape } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { Literal } from '../../query/tree.ts';
import { keyText } from '../../records/parsed-record.ts';
import { asking, signingFor } from '../exchange.ts';
import type { ResoRequest } from './resource-request.ts';

export const keyLiteral = (key: string, isNumber: boolean): Literal =>
  isNumber
    ? { kind: 'literal', type: 'integer', value: Number(key) }
    : { kind: 'literal', type: 'string', value: key };

export const keyField = ({ name, key, fields }: CollectionQuery['resource']): Field => {
  const field = fields.get(key);
  if (field === undefined) throw new Error(`${name} has no key`);
  return field;
};

/** The keys of the records that the key sees and that match the filter, in order. */
export async function keysOf(
  {
    request: { context, exchange, session, root },
    query: { resource },
  }: { readonly request: ResoRequest; readonly query: CollectionQuery },
  match: Pick<RecordQuery, 'filter' | 'search'>,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<{ readonly keys: readonly string[]; readonly more: boolean }> {
  if (!session.model.stores(resource.name)) return { keys: [], more: false };
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: false, fields: [keyField(resource)], hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root,
  };
  const page = await context.store.page(
    {
      query: { ...asking(session), resource, ...match },
      position: after === '' ? { kind: 'start' } : { kind: 'after-key', key: after },
      limit,
      shape,
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  const rows: Record<string, string | number>[] = JSON.parse(`[${Buffer.from(page.body).toString()}]`);
  page.release?.();
  const stored = rows.flatMap((row) => keyText(resource, row[resource.key]) ?? []);
  return { keys: stored, more: page.more };
}
