import type { Dictionary, Resource } from '../../../dictionary/index.ts';
import type { Answer, SourceClient } from '../../http/client.ts';
import { RequestFailure } from '../../http/failure.ts';
import { isObject, readDate, readJson } from '../answer.ts';
import type {
  BrokenItem,
  Capabilities,
  ForeignField,
  Position,
  Source,
  SourceItem,
  SourcePage,
  Walk,
} from '../source.ts';

export interface ResoSourceOptions {
  readonly client: SourceClient;
  /** Root of the service, ends with `/`. */
  readonly root: string;
  readonly capabilities: Capabilities;
  readonly foreignFields: readonly ForeignField[];
  readonly dictionary: Dictionary;
  /** `page`: `$top` in a link is the page size and may be lowered; `total`: it is the number of rows that are left. */
  readonly topMeans: 'page' | 'total';
}

/** Keys in one filter; the URL stays well below the limits of servers. */
const MANY = 50;

/** A RESO Web API server (specification 4.2, 4.4), from one with the least features to plat itself. */
export function resoSource(options: ResoSourceOptions): Source {
  const { client, root, capabilities, dictionary, topMeans } = options;
  const { expansions, windowField, counts } = capabilities;
  const resourceOf = (name: string): Resource => {
    const resource = dictionary.resources.get(name);
    if (resource === undefined) throw new Error(`The dictionary has no resource ${name}`);
    return resource;
  };
  const expand = (resource: string): string[] =>
    resource === 'Property' && capabilities.children === 'expanded' && expansions.length > 0
      ? [`$expand=${expansions.join(',')}`]
      : [];

  /** A page of a collection, read and checked. */
  function read(
    resource: string,
    query: readonly string[],
    position: Position | undefined,
    size: number,
  ): Promise<ListAnswer> {
    const url = addressOf(`${root}${resource}`, query, position, size);
    return client.get(url, readList, { headers: { prefer: `odata.maxpagesize=${size}` } });
  }

  function addressOf(
    collection: string,
    query: readonly string[],
    position: Position | undefined,
    size: number,
  ): string {
    if (position?.kind === 'link') return topMeans === 'page' ? withTop(position.url, size) : position.url;
    const skip = position?.kind === 'skip' ? [`$skip=${position.skip}`] : [];
    return `${collection}?${[`$top=${size}`, ...query, ...skip].map(encodeOption).join('&')}`;
  }

  /** Where the next page is: the link, or an offset where the server gives none but may have more. */
  function nextOf(
    page: Readonly<Record<string, unknown>>,
    rows: number,
    size: number,
    position: Position | undefined,
  ): Position | undefined {
    const link = page['@odata.nextLink'] ?? page['@nextLink'];
    if (typeof link === 'string' && link !== '')
      return { kind: 'link', url: client.resolve(new URL(link, root).href) };
    if (capabilities.pagesByLink && position?.kind !== 'skip') return undefined;
    if (rows < size) return undefined;
    return { kind: 'skip', skip: (position?.kind === 'skip' ? position.skip : 0) + rows };
  }

  return {
    capabilities,
    foreignFields: options.foreignFields,
    someAtOnce: MANY,
    serverTime: () => client.get(root, readDate),
    async page(name, walk, position, size) {
      const query = [...filterOf(walk, windowField), ...(counts ? ['$count=true'] : []), ...expand(name)];
      const { page, values, facts } = await read(name, query, position, size);
      const next = nextOf(page, values.length, size, position);
      return { ...itemsOf(name, values), next, ...facts, masked: [] };
    },
    async keys(name, position, size) {
      const { key } = resourceOf(name);
      const query = [`$select=${key}`, ...(counts ? ['$count=true'] : [])];
      const { page, values, facts } = await read(name, query, position, size);
      const keys = values.flatMap((value) => {
        const found = isObject(value) ? value[key] : undefined;
        return typeof found === 'string' || typeof found === 'number'
          ? [{ resource: name, key: String(found) }]
          : [];
      });
      return { keys, next: nextOf(page, values.length, size, position), ...facts };
    },
    async some(name, keys) {
      if (capabilities.asksForMany) {
        const list = keys.map(quoted).join(',');
        const query = [`$filter=${resourceOf(name).key} in (${list})`, ...expand(name)];
        const { values, facts } = await read(name, query, undefined, keys.length);
        return { ...itemsOf(name, values), ...facts, masked: [] };
      }
      return together(await inTurn(keys, (key) => one(name, key)));
    },
    async children(keys, collections) {
      return together(await inTurn(keys, (key) => childrenOf(key, collections)));
    },
  };

  async function one(name: string, key: string): Promise<SourcePage> {
    const address = `${root}${name}(${encodeURIComponent(quoted(key))})`;
    const query = expand(name).map(encodeOption).join('&');
    try {
      const url = query === '' ? address : `${address}?${query}`;
      const { json, serverTime } = await client.get(url, (answer) => ({
        json: readJson(answer),
        serverTime: readDate(answer),
      }));
      return { ...itemsOf(name, [json]), serverTime, masked: [] };
    } catch (error) {
      const isGone = error instanceof RequestFailure && (error.status === 404 || error.status === 410);
      if (isGone) return { items: [], broken: [], serverTime: 0, masked: [] };
      throw error;
    }
  }

  async function childrenOf(key: string, collections: readonly string[]): Promise<SourcePage> {
    const json: Record<string, unknown> = { [resourceOf('Property').key]: key };
    let serverTime = 0;
    for (const collection of collections) {
      const values: unknown[] = [];
      let url: string | undefined = `${root}Property(${encodeURIComponent(quoted(key))})/${collection}`;
      const visited = new Set<string>();
      while (url !== undefined) {
        if (visited.has(url)) throw new RequestFailure('rejected', `${url} links to itself`);
        visited.add(url);
        const answer: ListAnswer = await client.get(url, readList);
        values.push(...answer.values);
        serverTime = answer.facts.serverTime;
        const next = nextOf(answer.page, 0, 1, undefined);
        url = next?.kind === 'link' ? next.url : undefined;
      }
      json[collection] = values;
    }
    return {
      items: [{ resource: 'Property', json, onlyChildren: true }],
      broken: [],
      serverTime,
      masked: [],
    };
  }
}

const quoted = (key: string): string => `'${key.replaceAll("'", "''")}'`;

/** Encodes the value of an option; the characters that OData itself uses stay readable. */
function encodeOption(option: string): string {
  const [name = '', value = ''] = option.split(/=(.*)/s, 2);
  return `${name}=${encodeURIComponent(value).replace(/%(?:2C|24|28|29|27|3A)/g, decodeURIComponent)}`;
}

/** The window as the specification writes it: exclusive bounds, in parentheses (4.2). */
function filterOf(walk: Walk, field: string): string[] {
  if (walk.kind === 'all') return [];
  return [`$filter=(${field} gt ${walk.lower} and ${field} lt ${walk.upper})`];
}

/** The same link with another page size. */
function withTop(url: string, size: number): string {
  return url.replace(/([?&](?:\$|%24)?top=)\d+/i, `$1${size}`);
}

/** A page of a collection. */
interface ListAnswer {
  readonly page: Readonly<Record<string, unknown>>;
  readonly values: readonly unknown[];
  readonly facts: { readonly serverTime: number; readonly total: number | undefined };
}

function readList(answer: Answer): ListAnswer {
  const page = readJson(answer);
  const { value: values } = page;
  if (!Array.isArray(values)) {
    throw new RequestFailure('transient', `${answer.url} answered without a list of records`);
  }
  const count = page['@odata.count'] ?? page['@count'];
  const total = typeof count === 'number' ? count : undefined;
  return { page, values, facts: { serverTime: readDate(answer), total } };
}

function itemsOf(
  resource: string,
  values: readonly unknown[],
): { items: SourceItem[]; broken: BrokenItem[] } {
  const items: SourceItem[] = [];
  const broken: BrokenItem[] = [];
  for (const value of values) {
    if (isObject(value)) items.push({ resource, json: value });
    else broken.push({ resource, payload: JSON.stringify(value), reason: 'The record is not a JSON object' });
  }
  return { items, broken };
}

async function inTurn<T>(keys: readonly string[], ask: (key: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const key of keys) results.push(await ask(key));
  return results;
}

function together(pages: readonly SourcePage[]): SourcePage {
  return {
    items: pages.flatMap((page) => page.items),
    broken: pages.flatMap((page) => page.broken),
    serverTime: Math.max(0, ...pages.map((page) => page.serverTime)),
    masked: [],
  };
}
