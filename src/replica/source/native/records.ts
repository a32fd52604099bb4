/** Converts the records in the responses of a native server. This module sends no requests, except for names of custom fields. */
import { jsonOf } from '../../../records/nesting.ts';
import { isObject, type JsonObject } from '../../../shared/json.ts';
import { type SourceOptions, withoutEmptyLists } from '../response.ts';
import { ACCOUNTS, type BrokenItem, type SourceItem, type SourcePage } from '../source.ts';
import { utcReader } from '../time-zones.ts';
import { accountItem, type CustomNames, listingJson, nativeToReso } from './native-json.ts';
import { keysOf, type NativeResponse } from './requests.ts';

/** How a listing was requested: with its collections, without them, or only for them. */
export type Asked = 'whole' | 'bare' | 'children';

interface NativeRecordOptions extends Pick<SourceOptions, 'capabilities' | 'dictionary' | 'foreignFields'> {
  readonly customNames: CustomNames;
}

export class NativeRecords {
  /** The RESO names of the fields of a listing. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #customNames: CustomNames;
  /** Makes timestamps without a time zone ones in UTC; undefined if the operator does not say that they are. */
  readonly #inUtc: ((resource: string, json: JsonObject) => JsonObject) | undefined;

  constructor({ capabilities, customNames, dictionary, foreignFields }: NativeRecordOptions) {
    const listing = dictionary.resources.get('Property');
    this.#names = listing === undefined ? new Map() : nativeToReso(listing);
    this.#customNames = customNames;
    this.#inUtc = capabilities.assumesUtc === true ? utcReader(dictionary, foreignFields) : undefined;
  }

  /** The records of a response. @throws AuxiliaryFailure */
  async pageOf(
    resource: string,
    { results, facts, total }: NativeResponse,
    asked: Asked = 'whole',
  ): Promise<SourcePage> {
    if (resource !== ACCOUNTS) await this.#customNames.learnUnknown(results.filter(isObject));
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const masked = new Set<string>();
    const open = new Set<string>();
    for (const result of results) {
      const item = this.#itemOf(resource, result, masked, asked);
      if (item !== undefined) {
        const json = this.#inUtc?.(item.resource, item.json) ?? item.json;
        for (const name of Object.keys(json)) if (json[name] !== null) open.add(name);
        items.push({ ...item, json });
      } else {
        const reason = 'The record does not have the expected format';
        broken.push({ resource, payload: jsonOf(result), reason });
      }
    }
    const keys = keysOf(resource, results);
    return { items, broken, keys, ...facts, total, masked: [...masked], open: [...open] };
  }

  #itemOf(resource: string, result: unknown, masked: Set<string>, asked: Asked): SourceItem | undefined {
    if (!isObject(result)) return undefined;
    if (resource === ACCOUNTS) return accountItem(result);
    const mapped = listingJson(result, this.#names, this.#customNames.nameOf);
    if (mapped === undefined) return undefined;
    for (const name of mapped.masked) masked.add(name);
    const json = asked === 'bare' ? withoutEmptyLists(mapped.json) : mapped.json;
    return { resource: 'Property', json, ...(asked === 'children' ? { onlyChildren: true } : {}) };
  }

  /** Converts a response to a page of keys. A member without a key is kept unchanged. */
  async keysOnly(resource: string, answer: NativeResponse): Promise<SourcePage> {
    const keyless = answer.results.filter((result) => keysOf(resource, [result]).length === 0);
    const page = await this.pageOf(resource, { ...answer, results: keyless });
    return { ...page, keys: keysOf(resource, answer.results) };
  }
}
