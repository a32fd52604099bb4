/** Requests to a server with the native interface, and the envelope of its responses. This module does not convert records. */
import { PART_EXPANSIONS, partOfExpansion } from '../../../dictionary/index.ts';
import type { RecordName } from '../../../records/record-name.ts';
import { isObject } from '../../../shared/json.ts';
import type { SourceResponse } from '../../http/client.ts';
import { isUnsupported, unlessGone } from '../../http/failure.ts';
import { factsOf, faultWith200, keyFromValue, readJson, type SourceOptions } from '../response.ts';
import { ACCOUNTS, type SourcePage } from '../source.ts';
import { resourceOfAccount } from './native-json.ts';

/** The maximum number of values in a condition of `_filter`. */
export const MANY = 200;
/**
 * The minimum page size: if a source repeats the record of the token on the next page, a page of one record would always be that
 * record.
 */
export const SMALLEST = 2;
export const LISTINGS = 'listings';

/** Requests one listing, with these options of the query. */
type RequestOne = (key: string, query: readonly string[], attempts?: number) => Promise<NativeResponse>;

export class NativeRequests {
  readonly #client: SourceOptions['client'];
  readonly #root: string;
  readonly #expansions: readonly string[];
  /** Whether the source filters by keys, which the specification does not list (4.3); undefined until it has done so or refused. */
  #filtersByKey: boolean | undefined;

  constructor({ client, root, capabilities }: Pick<SourceOptions, 'client' | 'root' | 'capabilities'>) {
    this.#client = client;
    this.#root = root;
    this.#expansions = capabilities.expansions;
  }

  list(path: string, query: readonly string[], attempts?: number): Promise<NativeResponse> {
    const parameters = query.map(encodeParameter).join('&');
    return this.#client.get(`${this.#root}${path}${parameters === '' ? '' : `?${parameters}`}`, readResults, {
      attempts,
    });
  }

  /**
   * Requests listings by their keys. A source may return fewer than were requested, so the others are requested again.
   * @param alone requests a listing of a source that does not filter by keys
   */
  async listingsOf(
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
    distinct?: string,
    alone: RequestOne = (...of) => this.#afterToken(...of),
  ): Promise<NativeResponse> {
    // A request by path is never answered from a possibly outdated index.
    const isApart = (key: string): boolean =>
      isUnwritable(key) || (distinct !== undefined && keys.length === 1);
    const answers = [await this.byPath(LISTINGS, keys.filter(isApart), query, attempts)];
    for (let left = keys.filter((key) => !isApart(key)); left.length > 0; ) {
      const answer = await this.#byFilter(left, query, attempts, distinct);
      if (answer === undefined) {
        for (const key of left) answers.push(await alone(key, query, attempts));
        break;
      }
      answers.push(answer);
      const given = new Set(keysOf(LISTINGS, answer.results).map(({ key }) => key));
      const rest = left.filter((key) => !given.has(key));
      if (rest.length === left.length) break;
      left = rest;
    }
    return joinResponses(answers);
  }

  /** Whether several listings can be requested by their keys at once; a single one does not show it. */
  canFilterBy(keys: readonly string[]): boolean {
    return (this.#filtersByKey ?? keys.length > 1) && !keys.some(isUnwritable);
  }

  /** The listings with these keys; undefined if the source does not filter by keys. */
  async #byFilter(
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
    distinct?: string,
  ): Promise<NativeResponse | undefined> {
    if (this.#filtersByKey === false) return undefined;
    const named = [...keys, ...(distinct === undefined ? [] : [distinct])];
    const filter = `_filter=ListingKey Eq ${named.map(quoted).join(',')}`;
    try {
      const answer = await this.list(LISTINGS, [`_limit=${keys.length}`, filter, ...query], attempts);
      this.#filtersByKey = true;
      return answer;
    } catch (error) {
      // A request for many may have been refused for its size, and is repeated in halves.
      if (this.#filtersByKey === true || keys.length > 1 || !isUnsupported(error)) throw error;
      this.#filtersByKey = false;
      return undefined;
    }
  }

  /** The listing with this key, as the first one after a skip token that precedes it. */
  async #afterToken(key: string, query: readonly string[], attempts?: number): Promise<NativeResponse> {
    if (!/^\d*[1-9]\d*$/.test(key)) return this.byPath(LISTINGS, [key], query, attempts);
    for (let token = String(BigInt(key) - 1n).padStart(key.length, '0'); ; ) {
      const answer = await this.list(
        LISTINGS,
        [`_limit=${SMALLEST}`, `_skiptoken=${token}`, ...query],
        attempts,
      );
      const results = answer.results.filter((result) => isObject(result) && keyFromValue(result.Id) === key);
      const last = keysOf(LISTINGS, answer.results).at(-1)?.key ?? key;
      // Longer keys can lie between the token and the key.
      if (results.length > 0 || last >= key || last <= token) return { ...answer, results };
      token = last;
    }
  }

  /** The sub-resources of a listing, each from its own path (specification 4.3). */
  async partsOf(key: string, attempts?: number): Promise<NativeResponse> {
    const fields: Record<string, unknown> = { ListingKey: key };
    const answers: NativeResponse[] = [];
    for (const expansion of PART_EXPANSIONS.filter((each) => this.#expansions.includes(each))) {
      const path = `${LISTINGS}/${encodeURIComponent(key)}/${partOfExpansion(expansion)}`;
      const members = new Map<unknown, unknown>();
      for (let grows = true; grows; ) {
        const query = [`_limit=${MANY}`, `_skip=${members.size}`];
        const page = await unlessGone(this.list(path, query, attempts));
        // If one sub-resource does not exist, the others may.
        if (page === undefined) break;
        answers.push(page);
        const before = members.size;
        for (const each of page.results) members.set(isObject(each) ? each.Id : each, each);
        fields[expansion] = [...members.values()];
        grows = page.results.length >= MANY && members.size > before;
      }
    }
    const results = answers.length === 0 ? [] : [{ Id: key, StandardFields: fields }];
    return { ...joinResponses(answers), results };
  }

  /** Requests records one by one, and omits those that do not exist. */
  async byPath(
    path: string,
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
  ): Promise<NativeResponse> {
    const answers: NativeResponse[] = [];
    for (const key of keys) {
      const answer = await unlessGone(this.list(`${path}/${encodeURIComponent(key)}`, query, attempts));
      if (answer !== undefined) answers.push(answer);
    }
    return joinResponses(answers);
  }
}

export function keysOf(resource: string, results: readonly unknown[]): RecordName[] {
  return results.filter(isObject).flatMap((result) => {
    const of = resource === ACCOUNTS ? resourceOfAccount(result) : 'Property';
    const key = keyFromValue(result.Id);
    return of === undefined || key === undefined ? [] : [{ resource: of, key }];
  });
}

/** A successful response in the native envelope. */
export interface NativeResponse {
  readonly results: readonly unknown[];
  readonly token: string | undefined;
  readonly facts: Pick<SourcePage, 'serverTime' | 'weight'>;
  readonly total: number | undefined;
}

export const joinResponses = (answers: readonly NativeResponse[]): NativeResponse => ({
  results: answers.flatMap(({ results }) => results),
  token: undefined,
  facts: {
    serverTime: Math.max(0, ...answers.map(({ facts }) => facts.serverTime)),
    weight: answers.reduce((sum, { facts }) => sum + facts.weight, 0),
  },
  total: undefined,
});

/** Reads the results in the native envelope. @throws RequestFailure `transient` for a response in another format */
export function readResults(answer: SourceResponse): NativeResponse {
  const { D: content } = readJson(answer);
  if (!isObject(content) || !Array.isArray(content.Results)) {
    const { Success, Code, Message } = isObject(content) ? content : {};
    const said = [Code === undefined ? '' : `, code ${Code}`, Message === undefined ? '' : `: ${Message}`];
    const why = Success === false ? ` (Success is false${said.join('')})` : '';
    throw faultWith200(`${answer.url} responded without D.Results${why}`);
  }
  const { SkipToken: token, Pagination: pagination } = content;
  return {
    results: content.Results,
    token: typeof token === 'string' && token !== '' ? token : undefined,
    facts: factsOf(answer),
    total:
      isObject(pagination) && typeof pagination.TotalRows === 'number' ? pagination.TotalRows : undefined,
  };
}

/** A character literal of the native language: a backslash escapes a quote, and is an ordinary character everywhere else. */
const quoted = (key: string): string => `'${key.replaceAll("'", "\\'")}'`;

/**
 * Whether a literal cannot express a key: a backslash before a quote, or at the end, cannot be written, and `*` and `?` are wildcards,
 * which select other listings as well.
 */
const isUnwritable = (key: string): boolean => /[\\*?]/.test(key);

function encodeParameter(parameter: string): string {
  const [name = '', value = ''] = parameter.split(/=(.*)/s, 2);
  return `${name}=${encodeURIComponent(value).replace(/%(?:2C|27|3A)/g, decodeURIComponent)}`;
}
