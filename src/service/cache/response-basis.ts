/** What a response was made from, and whether a change affects it. This module must not know what is cached, or for how long. */
import { tracksChanges } from '../../access/index.ts';
import { isByKey } from '../../compile/page-plan.ts';
import { isPlainRead, type PlainReadSource } from '../../compile/plan-cache.ts';
import type { ListPageRequest, Page, PageRequest, RecordRequest } from '../../compile/read.ts';
import { leadsToCustomFields, type Resource } from '../../dictionary/index.ts';
import type { Expansion } from '../../query/request.ts';
import type { OrderTerm } from '../../query/tree.ts';
import { compareKeys } from '../../shared/compare-keys.ts';
import type { Changes } from '../../store/changes/change-follower.ts';
import type { UsedList } from '../paging/filter-index.ts';

/**
 * What a response depends on, besides the view: the records in it, and the members of this object. The response stays valid until
 * one of them changes.
 */
export interface Basis {
  readonly resource: string;
  readonly keys: Keys;
  /** The resources of linked records whose values the response shows. */
  readonly linked: readonly string[];
  /**
   * The lists that the page was taken from, all of one key. A later request may get the cached response only if it would use the
   * same lists.
   */
  readonly lists?: readonly UsedList[];
  /**
   * When the URLs of files in the response expire, in seconds since 1970. A later request may get the cached response only if its
   * URLs would have the same expiry. Absent: the response contains no such URLs.
   */
  readonly expires?: number | undefined;
  /** Whether the texts of its records are cached in blocks, so that a large response is not cached as well. */
  readonly isInBlocks?: boolean;
}

type Keys =
  | { readonly kind: 'one'; readonly key: string }
  /** A range of keys: after the first key, or from the beginning, up to and including the second key, or to the end. */
  | {
      readonly kind: 'range';
      readonly after?: string | undefined;
      readonly upTo?: string | undefined;
      /** The record after the page, whose existence means that there is a next page. */
      readonly follower?: string | undefined;
    }
  /** Any record may be in the response, or affect its content. */
  | { readonly kind: 'any' };

/** The basis of a response with one record; undefined if it depends on more. */
export function basisOfRecord(by: PlainReadSource, request: RecordRequest): Basis | undefined {
  const shown = basisWithoutKeys(by, request);
  return shown && { ...shown, keys: { kind: 'one', key: request.key } };
}

/** The basis of a response with a page; undefined if it depends on more. */
export function basisOfPage(
  by: PlainReadSource,
  request: Pick<PageRequest, 'query' | 'position' | 'shape' | 'files'>,
  { last, more, follower }: Page,
): Basis | undefined {
  const shown = basisWithoutKeys(by, request);
  const { query, position } = request;
  if (shown === undefined || !query.order.every(isFieldOfRecord)) return undefined;
  if (!isByKey(request) || (more && follower === undefined)) return { ...shown, keys: { kind: 'any' } };
  const after = 'key' in position ? position.key : undefined;
  return { ...shown, keys: { kind: 'range', after, upTo: more ? last?.key : undefined, follower } };
}

/**
 * The basis of a response with a page of a list; undefined if it depends on more. The list determines the records and their order,
 * whatever the filter and the order are, but not which of the records are still visible.
 */
export function basisOfList(
  by: PlainReadSource,
  request: Pick<ListPageRequest, 'query' | 'shape' | 'files'>,
  lists: readonly UsedList[],
): Basis | undefined {
  const shown = basisWithoutKeys(by, request);
  return shown && lists.length > 0 ? { ...shown, keys: { kind: 'any' }, lists } : undefined;
}

/**
 * The basis of a response without its records; undefined if the response also depends on something that the sequence of changes
 * does not report, such as the clock. A change of a part of a record counts as a change of the record (store/rows/change-log.ts).
 */
function basisWithoutKeys(
  by: PlainReadSource,
  { query, shape, files }: Pick<PageRequest, 'query' | 'shape' | 'files'>,
): Omit<Basis, 'keys'> | undefined {
  const { resource, view } = query;
  if (shape.kind === 'native-part' || !isPlainRead(by, query) || !tracksChanges(view, resource))
    return undefined;
  if (shape.computed !== undefined && shape.computed.length > 0) return undefined;
  const linked = new Set(linksOf(by, resource));
  for (const each of shape.kind === 'reso' ? shape.expansions : []) {
    if (leadsToCustomFields(each.navigation)) continue;
    const target = by.model.resource(each.navigation.target);
    if (!isPlainExpansion(each) || !tracksChanges(view, target)) return undefined;
    for (const name of [target.name, ...linksOf(by, target)]) linked.add(name);
  }
  // Media with URLs of this service occur only as parts of other records.
  const expires = shape.expansions.length > 0 ? files.expires : undefined;
  return { resource: resource.name, linked: [...linked], expires };
}

const linksOf = ({ model }: PlainReadSource, { name }: Resource): readonly string[] =>
  model.layout(name).links.map((link) => link.resource);

const isPlainExpansion = ({ query, isBare }: Expansion): boolean =>
  isBare === undefined &&
  query.filter === undefined &&
  query.search === undefined &&
  query.computed.length === 0 &&
  query.expansions.length === 0 &&
  query.order.every(isFieldOfRecord);

/** Whether an order depends only on values of the records themselves and on linked values that they show. */
const isFieldOfRecord = ({ expression }: OrderTerm): boolean =>
  expression.kind === 'field' && expression.via.length === 0;

/** Whether some changes may affect a response. */
export function isAffected(
  { resource, keys: covered, linked }: Basis,
  { keys, resources }: Changes & { readonly kind: 'records' },
): boolean {
  if (resources.has(resource) || linked.some((each) => resources.has(each) || keys.has(each))) return true;
  for (const key of keys.get(resource) ?? []) if (coversKey(covered, key)) return true;
  return false;
}

function coversKey(covered: Keys, key: string): boolean {
  switch (covered.kind) {
    case 'one':
      return covered.key === key;
    case 'any':
      return true;
    case 'range': {
      const { after, upTo, follower } = covered;
      const isBefore = after !== undefined && compareKeys(key, after) <= 0;
      const isBeyond = upTo !== undefined && compareKeys(key, upTo) > 0;
      return key === follower || !(isBefore || isBeyond);
    }
  }
}
