import type { Dictionary, Resource } from '../../../dictionary/index.ts';
import { skipTokenOf } from '../../../query/skip-token.ts';
import { jsonOf } from '../../../records/nesting.ts';
import { DIGEST_FORM } from '../../../store/digest.ts';
import { type Answer, attemptsOf, type SourceClient } from '../../http/client.ts';
import { RequestFailure } from '../../http/failure.ts';
import { isObject } from '../../json.ts';
import { readDate, readJson, withoutEmptyLists } from '../answer.ts';
import { oneByOne } from '../apart.ts';
import { serverClock } from '../server-clock.ts';
import type {
  BrokenItem,
  Capabilities,
  ForeignField,
  Place,
  Position,
  Shown,
  Source,
  SourceDigest,
  SourceItem,
  SourceKey,
  SourcePage,
  Walk,
} from '../source.ts';
import { inTurn, NOTHING, together, UNMASKED } from './gathered.ts';
import { type ListAnswer, linkOf, readList } from './list-answer.ts';
import {
  childAddress,
  encodeOption,
  filterOf,
  literalOf,
  quoted,
  recordAddress,
  withKeysAlone,
  withRecords,
  withTop,
} from './options.ts';
import { ShortList } from './short-list.ts';

export interface ResoSourceOptions {
  readonly client: SourceClient;
  /** Root of the service, ends with `/`. */
  readonly root: string;
  readonly capabilities: Capabilities;
  readonly foreignFields: readonly ForeignField[];
  readonly dictionary: Dictionary;
  readonly topMeans: TopMeans;
  readonly shown: () => Promise<Shown>;
  readonly windowField: (resource: string) => string;
}

/**
 * What `$top` is to a server that has more.
 * - `page`: the size of a page; a link leads on, and its `$top` may be lowered.
 * - `total`: the number of rows that are wanted; it is not sent, the preference for a page size is.
 * - `offset`: nothing leads on, or it is not known whether anything would; `$top` and `$skip` do.
 */
export type TopMeans = 'page' | 'total' | 'offset';

const skipped = (position: Position | undefined): number => (position?.kind === 'skip' ? position.skip : 0);

const ROUND = 5;
/** Keys in one filter; the URL stays well below the limits of servers. */
const MANY = 50;

/** A RESO Web API server (specification 4.2, 4.4), from one with the least features to plat itself. */
export function resoSource(options: ResoSourceOptions): Source {
  const { client, root, capabilities, dictionary, topMeans } = options;
  const { expansions, counts } = capabilities;
  const resourceOf = (name: string): Resource => {
    const resource = dictionary.resources.get(name);
    if (resource === undefined) throw new Error(`The dictionary has no resource ${name}`);
    return resource;
  };
  const literal = (key: string): string => literalOf(key, capabilities.hasNumericKeys === true);
  const expand = (resource: string): string[] =>
    resource === 'Property' && capabilities.children === 'expanded' && expansions.length > 0
      ? [`$expand=${expansions.join(',')}`]
      : [];

  /** Where the least is that a list gives. */
  const oneKey = (name: string): string => `${root}${name}?$top=1&$select=${resourceOf(name).key}`;

  /** A page of a collection, read and checked. */
  function read(resource: string, query: readonly string[], place: Place): Promise<ListAnswer> {
    // An absent field is null: nulls would be the larger part of what comes.
    const headers = { prefer: `odata.maxpagesize=${place.size}, omit-values=nulls` };
    const { attempts } = place;
    const url = addressOf(`${root}${resource}`, query, place);
    return client.get(url, readList, { headers, ...attemptsOf(attempts) });
  }

  function addressOf(collection: string, query: readonly string[], { position, size }: Place): string {
    if (position?.kind === 'link') return topMeans === 'page' ? withTop(position.url, size) : position.url;
    const top = topMeans === 'total' ? [] : [`$top=${size}`];
    const skip = position?.kind === 'skip' ? [`$skip=${position.skip}`] : [];
    const every = [...top, ...query, ...skip].map(encodeOption);
    return every.length === 0 ? collection : `${collection}?${every.join('&')}`;
  }

  /** Where the next page is: the link, or an offset where the server gives none but may have more. */
  function nextOf(
    page: Readonly<Record<string, unknown>>,
    rows: number,
    { position }: Place,
  ): Position | undefined {
    const link = linkOf(page, root);
    if (link !== undefined) return { kind: 'link', url: client.resolve(link) };
    if (topMeans !== 'offset' || position?.kind === 'link') return undefined;
    // A server may give fewer than asked and still have more, and count the page alone; only an empty page is the end.
    return rows === 0 ? undefined : { kind: 'skip', skip: skipped(position) + rows };
  }

  return {
    capabilities,
    foreignFields: options.foreignFields,
    origin: new URL(root).origin,
    someAtOnce: MANY,
    serverTime: serverClock(client, root, oneKey(capabilities.resources[0] ?? 'Property')),
    shown: options.shown,
    windowField: options.windowField,
    async page(name, walk, place) {
      if (place.apart === true) return pageApart(name, walk, place);
      const query = [...filterOf(walk), ...(counts ? ['$count=true'] : []), ...expand(name)];
      const { page, values, facts } = await read(name, query, place);
      return { ...itemsOf(name, values), next: nextOf(page, values.length, place), ...facts, ...UNMASKED };
    },
    async keys(name, place) {
      const query = [`$select=${resourceOf(name).key}`, ...(counts ? ['$count=true'] : [])];
      const { page, values, facts } = await read(name, query, place);
      const keys = keysOf(name, values);
      const keyless = values.length - keys.length;
      return { keys, keyless, next: nextOf(page, values.length, place), ...facts };
    },
    ...(capabilities.isPlat
      ? {
          digests: async (name: string, key: string, size: number) => {
            const query = [
              `$top=${size}`,
              ...expand(name),
              ...(key === '' ? [] : [`$skiptoken=${skipTokenOf(key)}`]),
            ];
            const url = `${root}${name}/$digests?${query.map(encodeOption).join('&')}`;
            const { page, values } = await client.get(url, readList);
            if (page.Form !== DIGEST_FORM) {
              throw new RequestFailure('rejected', 'The source gives digests of another form');
            }
            return { ranges: values.map(digestOf), more: linkOf(page, root) !== undefined };
          },
          after: async (name: string, key: string, size: number, apart = false) => {
            const shape = apart ? [`$select=${resourceOf(name).key}`] : expand(name);
            const query = [
              `$top=${size}`,
              ...shape,
              ...(key === '' ? [] : [`$skiptoken=${skipTokenOf(key)}`]),
            ];
            const url = `${root}${name}?${query.map(encodeOption).join('&')}`;
            const { values, facts } = await client.get(url, readList, {
              headers: { prefer: 'omit-values=nulls' },
            });
            if (!apart) return { ...itemsOf(name, values), ...facts, ...UNMASKED };
            const keys = keysOf(name, values);
            const names = keys.map((each) => each.key);
            return { ...facts, keys, ...(await oneByOne(name, names, (each) => records(name, [each]))) };
          },
        }
      : {}),
    some: records,
    async children(keys, collections, attempts) {
      return together(await inTurn(keys, (key) => childrenOf(key, collections, attempts)));
    },
  };

  async function records(name: string, keys: readonly string[], attempts?: number): Promise<SourcePage> {
    if (capabilities.asksForMany) {
      const list = keys.map(quoted).join(',');
      const query = [`$filter=${resourceOf(name).key} in (${list})`, ...expand(name)];
      return everyPage(name, query, keys.length, attempts);
    }
    return together(await inTurn(keys, (key) => single(name, key, attempts)));
  }

  /**
   * A page whose records are asked for one by one. Links lead through the keys alone and back, where they show what
   * they ask for: whoever guessed would read records without their fields.
   */
  async function pageApart(name: string, walk: Walk, place: Place): Promise<SourcePage> {
    const { key } = resourceOf(name);
    const { position } = place;
    const blind = new RequestFailure(
      'too-large',
      `${root}${name} has records that are too large, and no way past them`,
    );
    if (!capabilities.asksForMany && capabilities.byKey === 'none') throw blind;
    const collections = expand(name).length === 0 ? [] : expansions;
    const url = position?.kind === 'link' ? withKeysAlone(position.url, key, collections) : undefined;
    if (position?.kind === 'link' && url === undefined) throw blind;
    const query = [...filterOf(walk), ...(counts ? ['$count=true'] : []), `$select=${key}`];
    const at: Place = url === undefined ? place : { ...place, position: { kind: 'link', url } };
    const { page, values, facts } = await read(name, query, at);
    const found = nextOf(page, values.length, at);
    const onward = found?.kind === 'link' ? withRecords(found.url, key, collections) : undefined;
    if (found?.kind === 'link' && onward === undefined) throw blind;
    const keys = keysOf(name, values);
    const keyless = itemsOf(
      name,
      values.filter((value) => keysOf(name, [value]).length === 0),
    );
    const some = await oneByOne(
      name,
      keys.map((each) => each.key),
      (each) => records(name, [each]),
    );
    return {
      ...facts,
      ...UNMASKED,
      items: [...some.items, ...keyless.items],
      broken: [...some.broken, ...keyless.broken],
      keys,
      next: onward === undefined ? found : { kind: 'link', url: onward },
    };
  }

  /** A short list whole, in as many pages as the server makes of it. */
  async function everyPage(
    name: string,
    query: readonly string[],
    size: number,
    attempts: number | undefined,
  ): Promise<SourcePage> {
    const pages: SourcePage[] = [];
    const list = new ShortList(`${root}${name}`);
    let position: Position | undefined;
    do {
      const place = { position, size, ...attemptsOf(attempts) };
      const { page, values, facts } = await read(name, query, place);
      if (!list.add(values)) {
        if (position?.kind === 'link') list.repeated();
        break; // a server that knows no $skip here
      }
      pages.push({ ...itemsOf(name, values), ...facts, ...UNMASKED });
      const next = values.length === 0 ? undefined : nextOf(page, values.length, place);
      // As many as were asked for: a server that pages by offset need not be asked whether there are more.
      position = next?.kind === 'link' || values.length < size ? next : undefined;
    } while (position !== undefined);
    return together(pages);
  }

  function keysOf(name: string, values: readonly unknown[]): SourceKey[] {
    const { key } = resourceOf(name);
    return values.flatMap((value) => {
      const found = isObject(value) ? value[key] : undefined;
      return typeof found === 'string' || typeof found === 'number'
        ? [{ resource: name, key: String(found) }]
        : [];
    });
  }

  function itemsOf(
    resource: string,
    values: readonly unknown[],
  ): Pick<SourcePage, 'items' | 'broken' | 'keys'> {
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const { key } = resourceOf(resource);
    const isBare = expand(resource).length === 0;
    for (const value of values) {
      if (isObject(value)) {
        const json = withTextKey(key, value);
        items.push({ resource, json: isBare ? withoutEmptyLists(json) : json });
      } else broken.push({ resource, payload: jsonOf(value), reason: 'The record is not a JSON object' });
    }
    return { items, broken, keys: keysOf(resource, values) };
  }

  async function single(name: string, key: string, attempts: number | undefined): Promise<SourcePage> {
    switch (capabilities.byKey) {
      case 'none':
        return NOTHING;
      case 'filter':
        return everyPage(
          name,
          [`$filter=${resourceOf(name).key} eq ${literal(key)}`, ...expand(name)],
          1,
          attempts,
        );
      default:
        return one(name, key, attempts);
    }
  }

  async function one(name: string, key: string, attempts: number | undefined): Promise<SourcePage> {
    const address = recordAddress(`${root}${name}`, literal(key));
    const query = expand(name).map(encodeOption).join('&');
    try {
      const url = query === '' ? address : `${address}?${query}`;
      const read = (answer: Answer) => ({
        json: readJson(answer),
        serverTime: readDate(answer),
        weight: answer.text.length,
      });
      const { json, ...facts } = await client.get(url, read, attemptsOf(attempts));
      return { ...itemsOf(name, [json]), ...facts, ...UNMASKED };
    } catch (error) {
      if (isGone(error)) return NOTHING;
      throw error;
    }
  }

  /** A server that links to nothing cuts lists at some round number, if it does. */
  function mayGoOn({ values }: ListAnswer): boolean {
    return topMeans === 'offset' && values.length > 0 && values.length % ROUND === 0;
  }

  async function childrenOf(
    key: string,
    collections: readonly string[],
    attempts: number | undefined,
  ): Promise<SourcePage> {
    const json: Record<string, unknown> = { [resourceOf('Property').key]: key };
    let serverTime = 0;
    let weight = 0;
    for (const collection of collections) {
      const way = capabilities.childrenAt ?? 'key';
      const first = childAddress(`${root}Property`, literal(key), collection, way);
      const list = await listOf(first, attempts);
      // One kind that is not there says nothing of the others.
      if (list === undefined) continue;
      serverTime = Math.max(serverTime, list.serverTime);
      weight += list.weight;
      json[collection] = list.values;
    }
    if (Object.keys(json).length === 1) return NOTHING;
    const items = [{ resource: 'Property', json, onlyChildren: true }];
    return { items, broken: [], keys: [{ resource: 'Property', key }], serverTime, weight, ...UNMASKED };
  }

  /** A collection of a listing, whole; undefined where there is none at the address. */
  async function listOf(
    first: string,
    attempts: number | undefined,
  ): Promise<(Pick<ListAnswer, 'values'> & Pick<SourcePage, 'serverTime' | 'weight'>) | undefined> {
    const list = new ShortList(first);
    let serverTime = 0;
    let weight = 0;
    try {
      for (let url: string | undefined = first; url !== undefined; ) {
        const answer: ListAnswer = await client.get(url, readList, attemptsOf(attempts));
        serverTime = answer.facts.serverTime;
        weight += answer.facts.weight;
        const isNew = list.add(answer.values);
        const link = linkOf(answer.page, root);
        if (link !== undefined && !isNew) list.repeated();
        if (!isNew) break; // a server that knows no $skip here
        url = link ?? (mayGoOn(answer) ? `${first}?$skip=${list.values.length}` : undefined);
      }
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
    return { values: list.values, serverTime, weight };
  }
}

/** @throws RequestFailure for what is no digest: a source that gives none is compared record by record */
function digestOf(value: unknown): SourceDigest {
  const { Last: last, Rows: rows, Members: members, Digest: digest } = isObject(value) ? value : {};
  const isDigest = typeof last === 'string' && typeof rows === 'number' && typeof digest === 'string';
  if (!isDigest || !isObject(members)) throw new RequestFailure('rejected', 'The source gives no digests');
  const numbers = Object.entries(members).map(([name, number]) => [name, Number(number)] as const);
  return { last, rows, members: Object.fromEntries(numbers), digest };
}

const isGone = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.status === 404 || error.status === 410);

/** Keys are texts; a source may give the digits of one as a number. */
function withTextKey(key: string, record: Readonly<Record<string, unknown>>) {
  return typeof record[key] === 'number' ? { ...record, [key]: String(record[key]) } : record;
}
