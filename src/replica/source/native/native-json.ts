/**
 * Converts listings of the native interface, with their collections, and accounts to the dictionary's names. It sends no requests.
 */
import { recordOfPart } from '../../../compile/text/native-parts.ts';
import {
  type NativePart,
  PART_EXPANSIONS,
  partOfExpansion,
  type Resource,
  rowOfPart,
} from '../../../dictionary/index.ts';
import { isObject, type JsonObject, objectsIn } from '../../../shared/json.ts';
import { AuxiliaryFailure, RequestFailure } from '../../http/failure.ts';
import { type ForeignField, MASK, type SourceItem } from '../source.ts';

/** The sub-resource of each expansion. */
const PARTS: ReadonlyMap<string, NativePart> = new Map(
  PART_EXPANSIONS.map((name) => [name, partOfExpansion(name)]),
);

/** Maps the native names of a resource's fields to those of the dictionary. */
export const nativeToReso = (resource: Resource): ReadonlyMap<string, string> =>
  new Map([...resource.fields.values()].map((field) => [field.nativeName, field.name]));

/**
 * Converts a native listing and its expanded collections to the dictionary's names; undefined for a value that is not a listing.
 * The names of masked fields are returned separately.
 * @param names maps native names to those of the dictionary
 */
export function listingJson(
  listing: JsonObject,
  names: ReadonlyMap<string, string>,
  nameOf: NameOf,
): { readonly json: JsonObject; readonly masked: readonly string[] } | undefined {
  const { StandardFields: fields } = listing;
  if (!isObject(fields)) return undefined;
  const json: Record<string, unknown> = {};
  const masked: string[] = [];
  const collections = new Map<string, Members>();
  const put = (name: string, value: unknown): void => {
    // Assigning to this name would set the prototype. A source may return it twice.
    if (name === '__proto__')
      Object.defineProperty(json, name, { value, enumerable: true, configurable: true });
    else json[name] = value;
  };
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const part = Array.isArray(value) ? PARTS.get(name) : undefined;
    if (part !== undefined && Array.isArray(value)) addMembers(collections, part, value);
    else if (value === MASK) masked.push(name);
    else put(names.get(name) ?? name, value);
  }
  for (const [collection, { records, others }] of collections) {
    put(collection, [...records.values(), ...others]);
  }
  for (const [name, value] of customValues(listing, nameOf)) {
    if (value === MASK) masked.push(name);
    else put(name, value);
  }
  return { json, masked };
}

/** The members of a collection by key. Members that are not records are kept; they are quarantined when the listing is read. */
interface Members {
  readonly records: Map<unknown, JsonObject>;
  readonly others: unknown[];
}

/** A floor plan is also listed among the photos. The representation with more members is used. */
function addMembers(collections: Map<string, Members>, part: NativePart, given: readonly unknown[]): void {
  const { navigation: collection, media } = rowOfPart(part);
  const { records, others } = collections.getOrInsert(collection, { records: new Map(), others: [] });
  for (const [index, each] of given.entries()) {
    if (!isObject(each)) {
      others.push(each);
      continue;
    }
    const record = Object.entries(recordOfPart(part, each)).filter(([, value]) => value !== undefined);
    // The interface returns media in order, but without an Order field.
    const order = media === undefined ? {} : { Order: index };
    // Records without a key are different records.
    const key = each.Id ?? each;
    records.set(key, { ...order, ...records.get(key), ...Object.fromEntries(record) });
  }
}

/** How an account becomes a record. */
interface AccountMapping {
  /** Maps fields of the record to members of the account. */
  readonly fields: Readonly<Record<string, string>>;
  readonly email: string;
  /** Maps types of phones to fields. */
  readonly phones: ReadonlyMap<unknown, string>;
  /** The field of the primary phone, whatever its type. */
  readonly preferred: string;
}

const COMMON = {
  OriginatingSystemName: 'Mls',
  OriginatingSystemID: 'MlsId',
  ModificationTimestamp: 'ModificationTimestamp',
} as const;

const MAPPINGS: ReadonlyMap<unknown, AccountMapping> = new Map([
  [
    'Member',
    {
      fields: {
        MemberKey: 'Id',
        MemberFullName: 'Name',
        MemberFirstName: 'FirstName',
        MemberLastName: 'LastName',
        MemberStatus: 'Status',
        MemberStateLicense: 'LicenseNumber',
        OfficeKey: 'OfficeId',
        OfficeName: 'Office',
        ...COMMON,
      },
      email: 'MemberEmail',
      phones: new Map([
        ['Preferred', 'MemberPreferredPhone'],
        ['Mobile', 'MemberMobilePhone'],
        ['Direct', 'MemberDirectPhone'],
        ['Office', 'MemberOfficePhone'],
        ['Home', 'MemberHomePhone'],
        ['Toll Free', 'MemberTollFreePhone'],
        ['Fax', 'MemberFax'],
      ]),
      preferred: 'MemberPreferredPhone',
    },
  ],
  [
    'Office',
    {
      fields: {
        OfficeKey: 'Id',
        OfficeName: 'Name',
        OfficeStatus: 'Status',
        OfficeCorporateLicense: 'LicenseNumber',
        FranchiseAffiliation: 'Company',
        MainOfficeKey: 'CompanyId',
        ...COMMON,
      },
      email: 'OfficeEmail',
      phones: new Map([
        ['Office', 'OfficePhone'],
        ['Fax', 'OfficeFax'],
      ]),
      preferred: 'OfficePhone',
    },
  ],
]);

/** The resource of an account; undefined if the account is neither a person nor an office. */
export const resourceOfAccount = ({ UserType: type }: JsonObject): string | undefined =>
  typeof type === 'string' && MAPPINGS.has(type) ? type : undefined;

/** Converts an account to a Member or an Office, without absent and masked values; undefined if it is neither. */
export function accountItem(account: JsonObject): SourceItem | undefined {
  const resource = resourceOfAccount(account);
  const mapping = MAPPINGS.get(resource);
  if (resource === undefined || mapping === undefined) return undefined;
  const { fields, email, phones, preferred } = mapping;
  const json = new Map(Object.entries(fields).map(([field, name]) => [field, account[name]]));
  json.set(email, primaryOf(account.Emails, 'Address'));
  for (const phone of objectsIn(account.Phones)) {
    const field = phones.get(phone.Type);
    if (field !== undefined) json.set(field, json.get(field) ?? phone.Number);
  }
  json.set(preferred, json.get(preferred) ?? primaryOf(account.Phones, 'Number'));
  const given = [...json].filter(([, value]) => value !== undefined && value !== MASK && value !== '');
  return { resource, json: Object.fromEntries(given) };
}

/** A member of the primary entry of a list, or else of its first. */
function primaryOf(list: unknown, name: string): unknown {
  const entries = objectsIn(list);
  return (entries.find((entry) => entry.Primary === true) ?? entries[0])?.[name];
}

/** Maps the group and label of a custom field to its API name. */
type NameOf = (group: string, label: string) => string;

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
function customValues(listing: JsonObject, nameOf: NameOf): [string, unknown][] {
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
