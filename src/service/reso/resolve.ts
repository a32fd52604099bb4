import type { Parent, RecordQuery, ResoShape } from '../../compile/read.ts';
import type { Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { PathStep, ResourcePath } from '../../query/odata/resource-path.ts';
import { keyText } from '../../records/parsed-record.ts';
import { asking, signingFor } from '../exchange.ts';
import type { ResoRequest } from './resource-request.ts';

/** One record that a path names. */
export interface Target {
  readonly resource: Resource;
  readonly key: string;
  /** The record above it, where the path asks for one of its children. */
  readonly under?: Parent | undefined;
}

/** What a path with its keys leads to: a record, or the collection below one. */
export type Resolved =
  | { readonly kind: 'record'; readonly target: Target }
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'collection';
      readonly resource: Resource;
      readonly under?: Parent | undefined;
      /** Whether nothing was ever stored of the resource, which has no tables then. */
      readonly isBare: boolean;
    };

type Way = Pick<ResourcePath & { kind: 'record' }, 'root' | 'steps'>;

/**
 * Follows a path from key to key. Every record on the way must be one that the key may see (I4).
 * @throws PlatError `recordNotFound`
 */
export async function resolve(request: ResoRequest, { root, steps }: Way): Promise<Resolved> {
  const first = root.resource.resource;
  const isBare = ({ name }: Resource): boolean => !request.session.model.stores(name);
  if (root.key === undefined) return { kind: 'collection', resource: first, isBare: isBare(first) };
  let target: Target = { resource: first, key: storedKey(first, root.key) };
  for (const [index, step] of steps.entries()) {
    const { navigation, resource } = step;
    if (!navigation.collection) {
      const key = await linkedKey(request, target, step);
      if (key === undefined) return missing(target, index, steps);
      target = { resource: resource.resource, key };
      continue;
    }
    await requireRecord(request, target);
    const under = { navigation, key: target.key };
    if (step.key === undefined) {
      return { kind: 'collection', resource: resource.resource, under, isBare: isBare(resource.resource) };
    }
    if (isBare(resource.resource)) throw platError('recordNotFound', { resource: resource.resource.name });
    target = { resource: resource.resource, key: storedKey(resource.resource, step.key), under };
  }
  return { kind: 'record', target };
}

/** A to-one navigation that leads nowhere is an empty answer at the end of a path, and an error before it. */
function missing({ resource }: Target, index: number, steps: readonly PathStep[]): Resolved {
  if (index === steps.length - 1) return { kind: 'nothing' };
  throw platError('recordNotFound', { resource: resource.name });
}

function storedKey(resource: Resource, key: string | number): string {
  const text = keyText(resource, key);
  if (text === undefined) throw platError('recordNotFound', { resource: resource.name });
  return text;
}

/** The query that finds a target. */
export function targetQuery({ session }: ResoRequest, { resource, under }: Target): RecordQuery {
  return { ...asking(session), resource, ...(under === undefined ? {} : { under }) };
}

/** @throws PlatError `recordNotFound`, the same for a record that is hidden as for one that is not there */
export async function requireRecord(request: ResoRequest, target: Target): Promise<void> {
  const key = target.resource.fields.get(target.resource.key);
  const selection = { all: false, fields: key === undefined ? [] : [key], hidden: [] };
  if ((await readText(request, target, { selection, expansions: [] })) === undefined) {
    throw platError('recordNotFound', { resource: target.resource.name });
  }
}

/** The key of the record that a to-one navigation leads to; undefined for none, or for a hidden one. */
async function linkedKey(request: ResoRequest, target: Target, step: PathStep): Promise<string | undefined> {
  const { resource } = step.resource;
  const key = resource.fields.get(resource.key);
  const selection = { all: false, fields: key === undefined ? [] : [key], hidden: [] };
  const own = target.resource.fields.get(target.resource.key);
  const query = { resource, order: [], selection, computed: [], expansions: [], count: false };
  const expansion = { navigation: step.navigation, name: 'related', give: 'records', query } as const;
  const text = await readText(request, target, {
    selection: { all: false, fields: own === undefined ? [] : [own], hidden: [] },
    expansions: [expansion],
  });
  if (text === undefined) throw platError('recordNotFound', { resource: target.resource.name });
  const record: { related: Record<string, string | number> | null } = JSON.parse(text);
  const found = record.related?.[resource.key];
  return found === undefined ? undefined : keyText(resource, found);
}

async function readText(
  request: ResoRequest,
  target: Target,
  wanted: Pick<ResoShape, 'selection' | 'expansions'>,
): Promise<string | undefined> {
  const { context, exchange, session, root } = request;
  const shape: ResoShape = {
    kind: 'reso',
    computed: [],
    omitNulls: false,
    annotateHidden: false,
    root,
    ...wanted,
  };
  const query = targetQuery(request, target);
  const files = signingFor(context, exchange, session);
  const body = await context.store.record({ query, key: target.key, shape, files }, context.read);
  return body === undefined ? undefined : Buffer.from(body).toString();
}
