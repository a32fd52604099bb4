/** What an answer was made of, so that it shows whether a change touches it. It must not know what is kept, or for how long. */
import { isPlainRead, isPlainRecord, type ReadBy } from '../../compile/kept-plans.ts';
import { isByKey } from '../../compile/page-plan.ts';
import type { Page, PageRequest, RecordRequest } from '../../compile/read.ts';
import { compareKeys } from '../../shared/compare-keys.ts';
import type { Changes } from '../../store/change-follower.ts';
import { isKeyShape } from '../../store/lanes.ts';

/** The records of an answer that depends on nothing else but the view: it is the same until one of them changes. */
export interface Basis {
  readonly resource: string;
  readonly keys: Keys;
  /** The resources of which it shows any other records. */
  readonly linked: readonly string[];
}

type Keys =
  | { readonly kind: 'one'; readonly key: string }
  /** After the first key, or from the beginning, up to and including the second, or to the end. */
  | {
      readonly kind: 'range';
      readonly after?: string | undefined;
      readonly upTo?: string | undefined;
      /** A record beyond them, which shows that more follow. */
      readonly follower?: string | undefined;
    };

/** The basis of the answer that is one record; undefined for one that depends on more. */
export function basisOfRecord(
  by: ReadBy,
  { query, key, shape }: Pick<RecordRequest, 'query' | 'key' | 'shape'>,
): Basis | undefined {
  if (!isPlainRecord(by, query, shape)) return undefined;
  const resource = query.resource.name;
  const linked = new Set(by.model.layout(resource).links.map((link) => link.resource));
  return { resource, keys: { kind: 'one', key }, linked: [...linked] };
}

/** The basis of the answer that is a page of keys; undefined for one that depends on more. */
export function basisOfPage(
  by: ReadBy,
  request: Pick<PageRequest, 'query' | 'position' | 'shape'>,
  { last, more, follower }: Page,
): Basis | undefined {
  const { query, position, shape } = request;
  const isOfKeys = isByKey(request) && isKeyShape(shape, query.resource.key);
  if (!isOfKeys || !isPlainRead(by, query) || (more && follower === undefined)) return undefined;
  const after = 'key' in position ? position.key : undefined;
  const keys = { kind: 'range', after, upTo: more ? last?.key : undefined, follower } as const;
  return { resource: query.resource.name, keys, linked: [] };
}

/** Whether an answer may be another one after some changes. */
export function isTouched(
  { resource, keys: own, linked }: Basis,
  { keys, resources }: Changes & { readonly kind: 'records' },
): boolean {
  if (resources.has(resource) || linked.some((each) => resources.has(each) || keys.has(each))) return true;
  for (const key of keys.get(resource) ?? []) if (includes(own, key)) return true;
  return false;
}

function includes(own: Keys, key: string): boolean {
  if (own.kind === 'one') return own.key === key;
  const { after, upTo, follower } = own;
  const isBefore = after !== undefined && compareKeys(key, after) <= 0;
  const isBeyond = upTo !== undefined && compareKeys(key, upTo) > 0;
  return key === follower || !(isBefore || isBeyond);
}
