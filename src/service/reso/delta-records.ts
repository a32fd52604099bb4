/**
 * Reads the current state of records that may have changed. Records that the key sees and that match the query are returned
 * complete. All others are returned as removed: with the reason `deleted` if the key no longer sees them, otherwise `changed`. It
 * must not know why they may have changed.
 */
import type { RecordQuery } from '../../compile/read.ts';
import { keyField } from '../../dictionary/index.ts';
import { allOf, type Expression, fieldOf } from '../../query/tree.ts';
import { type BodyPart, queryContext, recordsOf, signingFor } from '../exchange.ts';
import { negotiateVersion } from '../http/negotiation.ts';
import { readOwned } from '../paging/read-page.ts';
import type { DeltaContext } from './delta-steps.ts';
import { keyLiteral, readKeys } from './record-keys.ts';
import { contextMember, shapeOf } from './resource-request.ts';
import { recordsAsRequested } from './value-forms.ts';

/** The current state of some records. */
interface Changed {
  /** As JSON. */
  readonly removed: readonly string[];
  readonly records: BodyPart;
  readonly rows: number;
}

export async function readChangedRecords(delta: DeltaContext, keys: readonly string[]): Promise<Changed> {
  const { request, query } = delta;
  const { filter, search, resource } = query;
  const { context, exchange, session } = request;
  if (keys.length === 0 || !session.model.stores(resource.name)) {
    return { removed: keys.map((key) => removedEntry(delta, key, 'deleted')), records: '', rows: 0 };
  }
  const limit = keys.length;
  const match = (of: readonly string[]): Pick<RecordQuery, 'filter' | 'search'> => {
    return { filter: allOf(filter, isOneOf(delta, of)), search };
  };
  const matching = new Set((await readKeys(delta, match(keys), { limit })).keys);
  const others = keys.filter((key) => !matching.has(key));
  const isWhole = filter === undefined && search === undefined;
  const visible =
    isWhole || others.length === 0
      ? []
      : (await readKeys(delta, { filter: isOneOf(delta, others) }, { limit })).keys;
  const visibleKeys = new Set(visible);
  const removed = others.map((key) => removedEntry(delta, key, visibleKeys.has(key) ? 'changed' : 'deleted'));
  if (matching.size === 0) return { removed, records: '', rows: 0 };
  const read = context.store.page(
    {
      query: { ...queryContext(session), resource, ...match([...matching]) },
      position: { kind: 'start' },
      limit,
      shape: { ...(await shapeOf(request, query)), omitNulls: false },
      files: signingFor(request),
    },
    context.read,
  );
  const page = await readOwned(exchange.taken, read);
  return { removed, records: recordsAsRequested(request, query, recordsOf(page)), rows: page.rows };
}

/** An entry for a record that is no longer in the collection, in the form of the OData version that the client requested. */
function removedEntry(
  { request, query: { resource } }: DeltaContext,
  key: string,
  reason: 'deleted' | 'changed',
): string {
  const isNumber = keyField(resource).type.kind === 'integer';
  const value = isNumber ? Number(key) : key;
  if (negotiateVersion(request.exchange.headers) === '4.0') {
    const inUrl = isNumber ? String(value) : `'${encodeURIComponent(key.replaceAll("'", "''"))}'`;
    const id = `${request.root}${resource.name}(${inUrl})`;
    const context = contextMember(request, `#${resource.name}/$deletedEntity`);
    return JSON.stringify({ ...context, id, reason });
  }
  return JSON.stringify({
    '@removed': { reason },
    [resource.key]: request.numbersAsText ? String(value) : value,
  });
}

function isOneOf({ query: { resource } }: DeltaContext, keys: readonly string[]): Expression {
  const operand = fieldOf(keyField(resource));
  const isNumber = operand.type === 'integer';
  return { kind: 'in', operand, values: keys.map((each) => keyLiteral(each, isNumber)) };
}
