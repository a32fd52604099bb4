/**
 * The current state of records that may have changed. Those that the key sees and that match are returned whole, as they are now;
 * the others are returned as removed: `deleted` if the key no longer sees them, `changed` if it does. It must not know why they may
 * have changed.
 */
import type { RecordQuery } from '../../compile/read.ts';
import { keyField } from '../../dictionary/index.ts';
import { allOf, type Expression, fieldOf } from '../../query/tree.ts';
import { asking, type Part, recordsOf, signingFor } from '../exchange.ts';
import { negotiateVersion } from '../http/negotiation.ts';
import { owned } from '../paging/read-page.ts';
import { keyLiteral, keysOf } from './delta-keys.ts';
import type { Following } from './delta-steps.ts';
import { contextMember, shapeOf } from './resource-request.ts';
import { recordsAsRequested } from './written-values.ts';

/** The current state of some records. */
interface Changed {
  /** As JSON. */
  readonly removed: readonly string[];
  readonly records: Part;
  readonly rows: number;
}

export async function changedRecords(following: Following, keys: readonly string[]): Promise<Changed> {
  const { request, query } = following;
  const { filter, search, resource } = query;
  const { context, exchange, session } = request;
  if (keys.length === 0 || !session.model.stores(resource.name)) {
    return { removed: keys.map((key) => removedEntry(following, key, 'deleted')), records: '', rows: 0 };
  }
  const limit = keys.length;
  const match = (of: readonly string[]): Pick<RecordQuery, 'filter' | 'search'> => {
    return { filter: allOf(filter, isOneOf(following, of)), search };
  };
  const matching = new Set((await keysOf(following, match(keys), { limit })).keys);
  const others = keys.filter((key) => !matching.has(key));
  const isWhole = filter === undefined && search === undefined;
  const visible =
    isWhole || others.length === 0
      ? []
      : (await keysOf(following, { filter: isOneOf(following, others) }, { limit })).keys;
  const seen = new Set(visible);
  const removed = others.map((key) => removedEntry(following, key, seen.has(key) ? 'changed' : 'deleted'));
  if (matching.size === 0) return { removed, records: '', rows: 0 };
  const read = context.store.page(
    {
      query: { ...asking(session), resource, ...match([...matching]) },
      position: { kind: 'start' },
      limit,
      shape: { ...(await shapeOf(request, query)), omitNulls: false },
      files: signingFor(request),
    },
    context.read,
  );
  const page = await owned(exchange.taken, read);
  return { removed, records: recordsAsRequested(request, query, recordsOf(page)), rows: page.rows };
}

/** An entry for a record that is no longer in the collection, in the form of the OData version that the client requested. */
function removedEntry(
  { request, query: { resource } }: Following,
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

function isOneOf({ query: { resource } }: Following, keys: readonly string[]): Expression {
  const operand = fieldOf(keyField(resource));
  const isNumber = operand.type === 'integer';
  return { kind: 'in', operand, values: keys.map((each) => keyLiteral(each, isNumber)) };
}
