/** The records in the responses of a RESO server, and the query options that select them. This module sends no requests. */
import type { Resource } from '../../../dictionary/index.ts';
import { jsonOf } from '../../../records/nesting.ts';
import type { RecordName } from '../../../records/record-name.ts';
import { isObject, type JsonObject } from '../../../shared/json.ts';
import { keyFromValue, type SourceOptions, withoutEmptyLists } from '../response.ts';
import type { BrokenItem, SourceItem, SourcePage } from '../source.ts';
import { utcReader } from '../time-zones.ts';
import { literalOf } from './urls.ts';

/** The RESO interface omits hidden fields and masks nothing. */
const UNMASKED = { masked: [], open: [] } as const;

export class ResoRecords {
  /** Makes timestamps without a time zone ones in UTC, if the operator says that they are. */
  readonly inUtc: (resource: string, json: JsonObject) => JsonObject;
  readonly #capabilities: SourceOptions['capabilities'];
  readonly #dictionary: SourceOptions['dictionary'];
  readonly #isUnasked: boolean;

  constructor({
    capabilities,
    dictionary,
    foreignFields,
  }: Pick<SourceOptions, 'capabilities' | 'dictionary' | 'foreignFields'>) {
    this.#capabilities = capabilities;
    this.#dictionary = dictionary;
    this.#isUnasked = capabilities.unasked === true;
    this.inUtc = capabilities.assumesUtc === true ? utcReader(dictionary, foreignFields) : (_, json) => json;
  }

  resourceOf(name: string): Resource {
    const resource = this.#dictionary.resources.get(name);
    if (resource === undefined) throw new Error(`The dictionary has no resource ${name}`);
    return resource;
  }

  /** A key in a filter or a URL. */
  literal(key: string): string {
    return literalOf(key, this.#capabilities.hasNumericKeys === true);
  }

  /** The sub-resources that a request for whole records names. */
  expansionsOf(name: string): readonly string[] {
    const { children, expansions } = this.#capabilities;
    return name === 'Property' && children === 'expanded' && !this.#isUnasked ? expansions : [];
  }

  /** The option that requests whole records. */
  expand(name: string): string[] {
    const expansions = this.expansionsOf(name);
    return expansions.length === 0 ? [] : [`$expand=${expansions.join(',')}`];
  }

  /** The option that requests keys alone. */
  selectKey(name: string): string {
    return `$select=${this.resourceOf(name).key}`;
  }

  keysOf(name: string, values: readonly unknown[]): RecordName[] {
    const { key } = this.resourceOf(name);
    return values.flatMap((value) => {
      const found = isObject(value) ? keyFromValue(value[key]) : undefined;
      return found === undefined ? [] : [{ resource: name, key: found }];
    });
  }

  itemOf(resource: string, value: JsonObject): SourceItem {
    const keyed = withTextKey(this.resourceOf(resource).key, value);
    const json = this.inUtc(resource, keyed);
    return {
      resource,
      json:
        this.expansionsOf(resource).length > 0
          ? json
          : withoutEmptyLists(json, this.#isUnasked ? this.#capabilities.expansions : []),
    };
  }

  pageOf(
    resource: string,
    values: readonly unknown[],
    facts: Pick<SourcePage, 'serverTime' | 'weight' | 'total'>,
  ): SourcePage {
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const { key } = this.resourceOf(resource);
    const put = (value: unknown, reason: string): void =>
      void broken.push({ resource, payload: jsonOf(value), reason });
    for (const value of values) {
      if (!isObject(value)) put(value, 'The record is not a JSON object');
      else if (isInvalidKey(value[key])) put(value, `${key} is ${jsonOf(value[key])}, which is not a key`);
      else items.push(this.itemOf(resource, value));
    }
    return { items, broken, keys: this.keysOf(resource, values), ...facts, ...UNMASKED };
  }
}

/** Whether a value is present but is not a key, such as a fraction or true. */
const isInvalidKey = (given: unknown): boolean =>
  given !== undefined && given !== null && given !== '' && keyFromValue(given) === undefined;

/** Keys are strings, but a source may return a numeric key as a number. */
function withTextKey(key: string, record: JsonObject): JsonObject {
  const { [key]: given } = record;
  const text = keyFromValue(given);
  return text === undefined || text === given ? record : { ...record, [key]: text };
}
