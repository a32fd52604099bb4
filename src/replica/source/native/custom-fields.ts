/** Custom fields of the native interface: those that the source lists, those that listings contain, and the API name of each. */
import { isObject, type JsonObject, objectsIn } from '../../../shared/json.ts';
import { AuxiliaryFailure, RequestFailure } from '../../http/failure.ts';
import type { ForeignField } from '../source.ts';

/** Maps the group and label of a custom field to its API name. */
export type NameOf = (group: string, label: string) => string;

const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['Boolean', 'boolean'],
  ['Integer', 'integer'],
  ['Decimal', 'decimal(15,4)'],
  ['Date', 'date'],
  ['Datetime', 'timestamp'],
]);

/** The fields in `/v1/customfields`: groups of labels. */
export const listedFields = (results: readonly unknown[]) =>
  results
    .filter(isObject)
    .flatMap((groups) => Object.entries(groups))
    .flatMap(([group, fields]) =>
      Object.entries(isObject(fields) ? fields : {}).map(([label, field]) => ({ group, label, field })),
    );

/** The declarations of the fields in `/v1/customfields`. */
export const declaredFields = (results: readonly unknown[]): ForeignField[] =>
  listedFields(results).flatMap(({ group, label, field }) => {
    if (!isObject(field)) return [];
    const name = typeof field.FieldName === 'string' ? field.FieldName : apiName(group, label);
    const type = field.MultiSelect === true ? 'string[]' : (TYPES.get(field.Type) ?? 'string');
    return [{ resource: 'Property', name, type, group, label }];
  });

/** The names and values of a listing's `[{"Main": [{"Group": [{"Field": value}]}], "Details": [...]}]`. */
export function customValues(listing: JsonObject, nameOf: NameOf): [string, unknown][] {
  return objectsIn(listing.CustomFields)
    .flatMap((sections) => Object.values(sections).flatMap(objectsIn))
    .flatMap((groups) => Object.entries(groups))
    .flatMap(([group, fields]) =>
      objectsIn(fields).flatMap((field) =>
        Object.entries(field).map(([label, value]): [string, unknown] => [nameOf(group, label), value]),
      ),
    );
}

const pairOf = (group: string, label: string): string => `${group}\u0000${label}`;

/** The API names of custom fields. They are requested again if a listing has an unknown field. */
export class CustomNames {
  readonly #names = new Map<string, string>();
  readonly #ask: () => Promise<readonly ForeignField[]>;

  /** @param ask requests the source's custom fields with their current names */
  constructor(fields: readonly ForeignField[], ask: () => Promise<readonly ForeignField[]>) {
    this.#learn(fields);
    this.#ask = ask;
  }

  readonly nameOf: NameOf = (group, label) => this.#names.get(pairOf(group, label)) ?? apiName(group, label);

  /**
   * Requests the fields of the source again if a listing has an unknown one, which may have been renamed in the meantime.
   * @throws AuxiliaryFailure
   */
  async learnUnknown(listings: readonly JsonObject[]): Promise<void> {
    const unknown = new Map<string, string>();
    const look = (group: string, label: string): string => {
      if (!this.#names.has(pairOf(group, label))) unknown.set(pairOf(group, label), apiName(group, label));
      return '';
    };
    for (const listing of listings) customValues(listing, look);
    if (unknown.size === 0) return;
    try {
      this.#learn(await this.#ask());
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      throw new AuxiliaryFailure('The names of custom fields could not be read', error);
    }
    // A field that the source does not list keeps the name that was derived from its group and label.
    for (const [pair, name] of unknown) if (!this.#names.has(pair)) this.#names.set(pair, name);
  }

  #learn(fields: readonly ForeignField[]): void {
    for (const { group, label, name } of fields) this.#names.set(pairOf(group, label), name);
  }
}

/** Derives an API name for a custom field that has none. */
function apiName(group: string, label: string): string {
  const words = `${group} ${label}`
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .split(' ');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(name) ? name : `Custom${name}`;
}
