/** Pages of the collections of a RESO server, whichever way it pages. This module knows nothing about the copy. */
import { isDirectFailure, isUnsupported, mayBeRejectedForSize, RequestFailure } from '../../http/failure.ts';
import { joinPages } from '../pages.ts';
import type { SourceOptions } from '../response.ts';
import type { PageRequest, SourcePage, Walk, WalkPosition } from '../source.ts';
import { type ListResponse, nextLinkOf, type PageReader, pageReader, ShortList } from './lists.ts';
import { offsetOfLink, rowsBefore } from './offsets.ts';
import type { ResoRecords } from './records.ts';
import { filterBy, newCondition, withOptions, withTop } from './urls.ts';

/**
 * The meaning of `$top` for a server that has more records.
 * - `page`: the page size. The server returns a next link, whose `$top` may be lowered.
 * - `total`: the total number of rows. `$top` is not sent; the preference `odata.maxpagesize` sets the page size.
 * - `offset`: the server returns no next link, or it is unknown whether it would. Pages are read with `$top` and `$skip`.
 */
export type TopMeans = 'page' | 'total' | 'offset';

/** What a list of records is asked for, whatever its position and page size. */
export interface Query {
  /** Conditions in addition to that of the copy; an undefined one is none. */
  readonly where?: readonly (string | undefined)[];
  readonly options?: readonly string[];
  /** Whether fields that are null are returned as well. */
  readonly showsNulls?: boolean;
  /** Whether the list is walked in the order of keys; otherwise, in the order and by the links of the source. */
  readonly isKeyed?: boolean;
}

/** The size down to which a rejected page is requested again in smaller pages (copy/page-size.ts). */
const SMALL = 10;

export class ResoCollections {
  readonly readAt: PageReader;
  /** The option that requests the number of records, if the source knows it. */
  readonly counted: readonly string[];
  readonly #client: SourceOptions['client'];
  readonly #root: string;
  readonly #capabilities: SourceOptions['capabilities'];
  readonly #topMeans: TopMeans;
  readonly #records: ResoRecords;
  /** Whether the source rejects the preference for a delta link. */
  #refusesTracking = false;

  constructor(
    { client, root, capabilities, topMeans }: Omit<ResoAccess, 'collections' | 'records'>,
    records: ResoRecords,
  ) {
    this.readAt = pageReader(client);
    this.counted = capabilities.counts ? ['$count=true'] : [];
    this.#client = client;
    this.#root = root;
    this.#capabilities = capabilities;
    this.#topMeans = topMeans;
    this.#records = records;
  }

  /** Reads a page of a collection. @param preferences in addition to the usual ones */
  async read(
    resource: string,
    query: Query,
    request: PageRequest,
    preferences: readonly string[] = [],
  ): Promise<ListResponse> {
    // An absent field means null. Without this preference, nulls would be the larger part of a response.
    const without = query.showsNulls === true ? [] : ['omit-values=nulls'];
    const usual = [`odata.maxpagesize=${request.size}`, ...without];
    const headers = { prefer: [...usual, ...preferences].join(', ') };
    const { position, attempts } = request;
    const list = await this.readAt(this.#addressOf(resource, query, request), `${this.#root}${resource}`, {
      headers,
      attempts,
    });
    const { facts } = list;
    // A page after a key counts the records that follow the key.
    if (position?.kind !== 'key' || facts.total === undefined) return list;
    return { ...list, facts: { ...facts, total: position.skip + facts.total } };
  }

  /** Reads a page of a walk. The last page of a walk over all records may have a delta link. */
  readWalk(resource: string, walk: Walk, query: Query, request: PageRequest): Promise<ListResponse> {
    return this.#isTracked(walk, request)
      ? this.#readTracked(resource, query, request)
      : this.readPage(resource, query, request);
  }

  /**
   * Reads a page. If the source ignores or rejects `$skip`, although it returns no next links, the page is taken from the first page,
   * provided that this has all records.
   */
  async readPage(resource: string, query: Query, request: PageRequest): Promise<ListResponse> {
    const { position, size } = request;
    if (position?.kind !== 'skip') return this.read(resource, query, request);
    const { lacksOffsets = false, lacksOffsetsInWindows = false } = this.#capabilities;
    const isWindow = query.where?.some((each) => each !== undefined) === true;
    let cause: RequestFailure | undefined;
    try {
      const isIgnored = lacksOffsets || (isWindow && lacksOffsetsInWindows);
      if (!isIgnored) return await this.read(resource, query, request);
    } catch (error) {
      if (!isRejected(error) || position.skip > size) throw error;
      cause = error;
    }
    const first = { ...request, position: undefined, size: Math.max(size, position.skip) };
    const page = await this.read(resource, query, first);
    const { values } = page;
    const isWhole =
      (isWindow && !lacksOffsets && (await this.#mayReturnMore(resource, values.length))) ||
      (await this.#areAll(resource, query, first, values));
    if (isWhole) return { ...page, values: values.slice(position.skip) };
    throw new RequestFailure(
      'refused',
      `${resource} may have more records than the ${values.length} of its first page, and the source offers no way to them: it returns no next links, ignores or rejects $skip, and does not filter and sort by ${this.#records.resourceOf(resource).key}. Ask its operator for next links, or use a --page-size for which a page has all records.`,
      { cause },
    );
  }

  /** Whether the source returns pages with more rows than this, so that a list with as many was not cut off. */
  async #mayReturnMore(resource: string, rows: number): Promise<boolean> {
    // In a request with a filter, the source ignores the page size.
    if (this.#capabilities.filter !== undefined) return false;
    const options = [this.#records.selectKey(resource)];
    const { values } = await this.read(resource, { options }, { position: undefined, size: rows + 1 });
    return values.length > rows;
  }

  /**
   * Whether a page has all records. Sorted in either direction, a page has the same records only if there are no others; otherwise,
   * the number that the source announces on a smaller page shows it.
   */
  async #areAll(
    resource: string,
    { where }: Query,
    request: PageRequest,
    values: readonly unknown[],
  ): Promise<boolean> {
    const isSame = await this.#areSameSorted(resource, where, request, values).catch((error: unknown) => {
      if (isRejected(error)) return false;
      throw error;
    });
    if (isSame || !this.#capabilities.counts) return isSame;
    const one = { ...request, size: 1 };
    const { facts, values: fewer } = await this.read(resource, { where, options: this.counted }, one);
    return facts.total === values.length && fewer.length < values.length;
  }

  async #areSameSorted(
    resource: string,
    where: Query['where'],
    request: PageRequest,
    values: readonly unknown[],
  ): Promise<boolean> {
    const { key } = this.#records.resourceOf(resource);
    const sorted = async (direction: string): Promise<string[]> => {
      const options = [...this.counted, this.#records.selectKey(resource), `$orderby=${key} ${direction}`];
      const { values } = await this.read(resource, { where, options }, request);
      return this.#records.keysOf(resource, values).map((each) => each.key);
    };
    const keys = new Set(this.#records.keysOf(resource, values).map((each) => each.key));
    const ascending = await sorted('asc');
    const descending = await sorted('desc');
    const isSame = keys.size === values.length && ascending.length === keys.size;
    return isSame && ascending.every((each, at) => keys.has(each) && each === descending.at(-1 - at));
  }

  #addressOf(
    resource: string,
    { where = [], options: shape = [], isKeyed = false }: Query,
    { position, size }: PageRequest,
  ): string {
    if (isKeyed && position !== undefined && position.kind !== 'key') {
      // An earlier run read the records in the order of the source.
      throw new RequestFailure(
        'rejected',
        `The earlier part of the walk was by offset, and this one is in the order of keys`,
      );
    }
    if (position?.kind === 'link')
      return this.#topMeans === 'page' ? withTop(position.url, size) : position.url;
    const { key } = this.#records.resourceOf(resource);
    const after = position?.kind === 'key' ? `${key} gt ${this.#records.literal(position.key)}` : undefined;
    const { filter, hasNumericKeys = false, isPlat, takesKeys = [] } = this.#capabilities;
    const isFiltered = after !== undefined || filter !== undefined;
    // The bounds of a window are new in themselves.
    const isRecurring = isFiltered && where.every((each) => each === undefined);
    const mayAddKeys = isKeyed || isPlat || takesKeys.includes(resource);
    const distinct =
      isRecurring && mayAddKeys ? newCondition(key, this.#client.clock.now(), hasNumericKeys) : undefined;
    return withOptions(`${this.#root}${resource}`, [
      ...(this.#topMeans === 'total' ? [] : [`$top=${size}`]),
      ...filterBy(filter, ...where, after, distinct),
      ...shape,
      ...(isKeyed ? [`$orderby=${key}`] : []),
      ...(position?.kind === 'skip' ? [`$skip=${position.skip}`] : []),
    ]);
  }

  /** The next page of a walk; undefined if the page is the last one. */
  next(
    resource: string,
    { isKeyed }: Query,
    answer: ListResponse,
    request: Pick<PageRequest, 'position' | 'size'>,
  ): WalkPosition | undefined {
    return isKeyed === true ? this.#nextByKey(resource, answer, request) : this.#nextByLink(answer, request);
  }

  /** The page after the last key of a page, unless the page is the last one. */
  #nextByKey(
    resource: string,
    answer: ListResponse,
    { position }: Pick<PageRequest, 'position'>,
  ): WalkPosition | undefined {
    const last = this.#records.keysOf(resource, answer.values).at(-1);
    const mayGoOn = this.#topMeans === 'offset' || nextLinkOf(answer, this.#root) !== undefined;
    if (!mayGoOn || answer.values.length === 0) return undefined;
    if (last === undefined) {
      throw new RequestFailure('rejected', 'The source pages by key, and gave a page without keys');
    }
    return { kind: 'key', key: last.key, skip: rowsBefore(position) + answer.values.length };
  }

  /** The next page: the link, or an offset if the link leads to one, or if the server sends none but may have more. */
  #nextByLink(
    answer: ListResponse,
    { position, size }: Pick<PageRequest, 'position' | 'size'>,
  ): WalkPosition | undefined {
    const { values } = answer;
    const before = rowsBefore(position);
    const rows = before + values.length;
    const link = nextLinkOf(answer, this.#root);
    if (link !== undefined) {
      const url = this.#client.resolve(link);
      const skip = offsetOfLink(url);
      if (skip !== undefined) return { kind: 'skip', skip };
      if (this.#topMeans !== 'offset') return { kind: 'link', url };
      return { kind: 'link', url, skip: rows, end: position?.kind === 'link' ? position.end : before + size };
    }
    // If links end after exactly as many rows as `$top` requested, `$top` ended them, and there may be more rows.
    const isEnd = this.#topMeans !== 'offset' || (position?.kind === 'link' && rows !== position.end);
    // A server may return fewer records than requested although it has more, and announce only the number on the page. Only an
    // empty page is the end.
    return isEnd || values.length === 0 ? undefined : { kind: 'skip', skip: rows };
  }

  /**
   * Whether a request is for the first page of a walk that may end with a delta link. A plat source returns a delta link without a
   * walk.
   */
  #isTracked(walk: Walk, { position }: PageRequest): boolean {
    return (
      walk.kind === 'all' && position === undefined && !this.#capabilities.isPlat && !this.#refusesTracking
    );
  }

  async #readTracked(name: string, query: Query, request: PageRequest): Promise<ListResponse> {
    try {
      return await this.read(name, query, request, ['odata.track-changes']);
    } catch (error) {
      // The server may have refused the preference, or the size. If it may be the size, the caller requests a smaller page, without
      // the preference.
      if (!isRejected(error)) throw error;
      this.#refusesTracking = true;
      if (mayBeRejectedForSize(error) && request.size > SMALL) throw error;
      return this.read(name, query, request);
    }
  }

  /** Reads a complete short list, in as many pages as the server returns. */
  async readAll(name: string, query: Query, size: number, attempts?: number): Promise<SourcePage> {
    const pages: SourcePage[] = [];
    const list = new ShortList(`${this.#root}${name}`);
    let position: WalkPosition | undefined;
    do {
      const answer = await this.read(name, query, { position, size, attempts });
      const { values, facts } = answer;
      if (!list.add(values)) {
        if (position?.kind === 'link') list.failRepeated();
        break; // the server does not support $skip here
      }
      pages.push(this.#records.pageOf(name, values, facts));
      const next = values.length === 0 ? undefined : this.#nextByLink(answer, { position, size });
      // If all requested records have arrived, no further page by offset is needed.
      position = next?.kind === 'link' || values.length < size ? next : undefined;
    } while (position !== undefined);
    return joinPages(pages);
  }
}

/** Whether the source does not support the request. */
const isRejected = (error: unknown): error is RequestFailure =>
  isDirectFailure(error) && isUnsupported(error);

/** What requests to a RESO server need. */
export interface ResoAccess extends Pick<SourceOptions, 'client' | 'root' | 'capabilities'> {
  readonly topMeans: TopMeans;
  readonly collections: ResoCollections;
  readonly records: ResoRecords;
}
