/** Requests for single records and their sub-resources at a RESO server. */
import { objectsIn } from '../../../shared/json.ts';
import type { SourceResponse } from '../../http/client.ts';
import { unlessGone } from '../../http/failure.ts';
import { EMPTY_PAGE, requestOneByOne } from '../pages.ts';
import { factsOf, readJson } from '../response.ts';
import type { SourcePage } from '../source.ts';
import type { ResoAccess } from './collections.ts';
import { nextLinkOf, ShortList } from './lists.ts';
import { childAddress, quoted, recordAddress, withOptions } from './urls.ts';

/** Servers that cut off a list without a next link do so at a multiple of this number. */
const ROUND = 5;

/** Requests records by their keys, with their sub-resources; records that do not exist are omitted. */
export async function recordsByKey(
  access: ResoAccess,
  name: string,
  keys: readonly string[],
  attempts?: number,
  distinct?: string,
): Promise<SourcePage> {
  const { capabilities, collections, records } = access;
  // A request for the URL of a record is never answered from a possibly outdated index.
  const isAlone = distinct !== undefined && keys.length === 1;
  if (!capabilities.asksForMany || isAlone)
    return requestOneByOne(keys, (key) => single(access, name, key, attempts));
  const list = [...keys, ...(distinct === undefined ? [] : [distinct])].map(quoted).join(',');
  const query = { where: [`${records.resourceOf(name).key} in (${list})`], options: records.expand(name) };
  return collections.readAll(name, query, keys.length, attempts);
}

async function single(
  { client, root, capabilities, collections, records }: ResoAccess,
  name: string,
  key: string,
  attempts?: number,
): Promise<SourcePage> {
  switch (capabilities.byKey) {
    case 'none':
      return EMPTY_PAGE;
    case 'filter': {
      const query = {
        where: [`${records.resourceOf(name).key} eq ${records.literal(key)}`],
        options: records.expand(name),
      };
      return collections.readAll(name, query, 1, attempts);
    }
    default: {
      const url = withOptions(recordAddress(`${root}${name}`, records.literal(key)), records.expand(name));
      const one = (answer: SourceResponse): SourcePage => {
        const record = readJson(answer);
        // Some servers respond with a list of one record, or with an empty one.
        const isList = record[records.resourceOf(name).key] === undefined && Array.isArray(record.value);
        return records.pageOf(name, isList ? objectsIn(record.value) : [record], factsOf(answer));
      };
      return (await unlessGone(client.get(url, one, { attempts }))) ?? EMPTY_PAGE;
    }
  }
}

/** Reads collections of a listing, each from its own URL. */
export async function childrenOf(
  source: ResoAccess,
  key: string,
  collections: readonly string[],
  attempts?: number,
): Promise<SourcePage> {
  const { root, capabilities, records } = source;
  const json: Record<string, unknown> = { [records.resourceOf('Property').key]: key };
  let serverTime = 0;
  let weight = 0;
  for (const collection of collections) {
    const form = capabilities.childrenAt ?? 'key';
    const first = childAddress(`${root}Property`, records.literal(key), collection, form);
    const list = await unlessGone(readList(source, first, attempts));
    // If one collection does not exist, the others may.
    if (list === undefined) continue;
    serverTime = Math.max(serverTime, list.serverTime);
    weight += list.weight;
    json[collection] = list.values;
  }
  if (Object.keys(json).length === 1) return EMPTY_PAGE;
  const items = [{ resource: 'Property', json: records.inUtc('Property', json), onlyChildren: true }];
  return { ...EMPTY_PAGE, items, keys: [{ resource: 'Property', key }], serverTime, weight };
}

/** Reads a complete collection of a listing. */
async function readList({ root, collections, topMeans }: ResoAccess, first: string, attempts?: number) {
  const list = new ShortList(first);
  let serverTime = 0;
  let weight = 0;
  for (let url: string | undefined = first; url !== undefined; ) {
    const answer = await collections.readAt(url, first, { attempts });
    const { values, facts } = answer;
    serverTime = facts.serverTime;
    weight += facts.weight;
    const isNew = list.add(values);
    const link = nextLinkOf(answer, root);
    if (link !== undefined && !isNew) list.failRepeated();
    if (!isNew) break; // the server does not support $skip here
    const mayGoOn: boolean = topMeans === 'offset' && values.length > 0 && values.length % ROUND === 0;
    url = link ?? (mayGoOn ? `${first}?$skip=${list.values.length}` : undefined);
  }
  return { values: list.values, serverTime, weight };
}
