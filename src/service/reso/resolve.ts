/** Resolves a path: every record along it must be one that the key may see (I4). */
import { type Parent, plainShape, type RecordRequest, type ResoShape } from '../../compile/read.ts';
import { keyField, type Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { PathStep, ResourcePath } from '../../query/odata/resource-path.ts';
import { keyText } from '../../records/parsed-record.ts';
import { queryContext, signingFor } from '../exchange.ts';
import type { ResoRequest } from './resource-request.ts';

/** One record that a path leads to. */
export interface Target {
  readonly resource: Resource;
  readonly key: string;
  /** The record above it, if the path requests one of its children. */
  readonly under?: Parent | undefined;
}

export interface FoundCollection {
  readonly kind: 'collection';
  readonly resource: Resource;
  readonly under?: Parent | undefined;
  /** Whether no record of the resource was ever stored, so that it has no tables. */
  readonly isBare: boolean;
}

/** What a path leads to: a record, nothing (at the end of a to-one navigation), or a collection. */
type Resolved =
  | { readonly kind: 'record'; readonly target: Target }
  | { readonly kind: 'nothing' }
  | FoundCollection;

/** Follows a path from record to record. @throws PlatError `recordNotFound` */
export async function resolvePath(
  request: ResoRequest,
  { root, steps }: Pick<ResourcePath & { kind: 'record' }, 'root' | 'steps'>,
): Promise<Resolved> {
  const first = root.resource.resource;
  const isBare = ({ name, fromChanges }: Resource): boolean =>
    !fromChanges && !request.session.model.stores(name);
  if (root.key === undefined) return { kind: 'collection', resource: first, isBare: isBare(first) };
  let target: Target = { resource: first, key: storedKey(first, root.key) };
  for (const [index, step] of steps.entries()) {
    const { navigation } = step;
    const { resource } = step.resource;
    if (!navigation.collection) {
      const key = await linkedKey(request, target, step);
      if (key === undefined) {
        // At the end of a path, a missing record is an empty response; before its end, it is an error.
        if (index === steps.length - 1) return { kind: 'nothing' };
        throw notFound(resource);
      }
      target = { resource, key };
      continue;
    }
    if ((await readRecord(request, target, keyShape(request, target.resource))) === undefined) {
      throw notFound(target.resource);
    }
    const under = { navigation, key: target.key };
    if (step.key === undefined) return { kind: 'collection', resource, under, isBare: isBare(resource) };
    if (isBare(resource)) throw notFound(resource);
    target = { resource, key: storedKey(resource, step.key), under };
  }
  return { kind: 'record', target };
}

/** The same error for a hidden record as for one that does not exist. */
const notFound = ({ name }: Resource) => platError('recordNotFound', { resource: name });

function storedKey(resource: Resource, key: string | number): string {
  const text = keyText(resource, key);
  if (text === undefined) throw notFound(resource);
  return text;
}

/** The key of the record that a to-one navigation leads to; undefined if there is none or it is hidden. */
async function linkedKey(
  request: ResoRequest,
  target: Target,
  { navigation, resource: { resource } }: PathStep,
): Promise<string | undefined> {
  const query = { resource, order: [], count: false, ...keyShape(request, resource) };
  const expansion = { navigation, name: 'related', give: 'records', query } as const;
  const shape = { ...keyShape(request, target.resource), expansions: [expansion] };
  const text = await readRecord(request, target, shape);
  if (text === undefined) throw notFound(target.resource);
  const record: { related: Record<string, string | number> | null } = JSON.parse(
    Buffer.from(text).toString(),
  );
  const found = record.related?.[resource.key];
  return found === undefined ? undefined : keyText(resource, found);
}

/** Reads only the key of a record. */
const keyShape = ({ root }: ResoRequest, resource: Resource): ResoShape =>
  plainShape([keyField(resource)], root);

/** @returns undefined if the record does not exist or the key may not see it */
export const readRecord = (
  request: ResoRequest,
  target: Target,
  shape: ResoShape,
): Promise<Uint8Array | undefined> => {
  const { store, read } = request.context;
  return store.record(recordRequest(request, target, shape), read);
};

/** The request to the store for one record. */
export function recordRequest(
  request: ResoRequest,
  { resource, key, under }: Target,
  shape: ResoShape,
): RecordRequest {
  const query = { ...queryContext(request.session), resource, under };
  return { query, key, shape, files: signingFor(request) };
}
