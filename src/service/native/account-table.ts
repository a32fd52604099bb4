/**
 * The members of an account (reference: native-v1, Accounts): the fields of Member and Office from which each is derived, the
 * meaning of names in filters, and the text of an account. It must not know how accounts are read.
 */
import type { Field, Navigation } from '../../dictionary/index.ts';
import type { NativeName, NativeNames } from '../../query/native/names.ts';
import type { Schema } from '../../query/schema.ts';
import { type Expression, type FieldReference, fieldOf, type Literal } from '../../query/tree.ts';

export const USER_TYPES = ['Member', 'Office'] as const;
export type UserType = (typeof USER_TYPES)[number];

/** The origin of the value of a member. */
type Origin =
  | { readonly kind: 'constant'; readonly text: string }
  /** Fields of the record. For phones, also the type of the phone in each field. */
  | { readonly kind: 'fields'; readonly names: readonly string[]; readonly types?: readonly string[] }
  /** A field of the member's office. */
  | { readonly kind: 'office'; readonly name: string }
  /** A field of the office as it is now; if the key sees no office, the record's own field of the same name. */
  | { readonly kind: 'office-else-own'; readonly name: string };

const fields = (...names: string[]): Origin => ({ kind: 'fields', names });
const phones = (types: Readonly<Record<string, string>>): Origin => ({
  kind: 'fields',
  names: Object.keys(types),
  types: Object.values(types),
});
const constant = (text: string): Origin => ({ kind: 'constant', text });

const addressOf = (type: UserType): Origin =>
  fields(
    ...['Address1', 'Address2', 'City', 'StateOrProvince', 'PostalCode'].map((name) => `${type}${name}`),
  );

export const ACCOUNT: Readonly<Record<UserType, Readonly<Record<string, Origin>>>> = {
  Member: {
    Id: fields('MemberKey'),
    Name: fields('MemberFullName'),
    FirstName: fields('MemberFirstName'),
    LastName: fields('MemberLastName'),
    UserType: constant('Member'),
    Status: fields('MemberStatus'),
    Office: { kind: 'office-else-own', name: 'OfficeName' },
    OfficeId: fields('OfficeKey'),
    Company: { kind: 'office', name: 'FranchiseAffiliation' },
    CompanyId: { kind: 'office', name: 'MainOfficeKey' },
    Mls: fields('OriginatingSystemName'),
    MlsId: fields('OriginatingSystemID'),
    LicenseNumber: fields('MemberStateLicense'),
    ModificationTimestamp: fields('ModificationTimestamp'),
    Emails: fields('MemberEmail'),
    Phones: phones({
      MemberPreferredPhone: 'Preferred',
      MemberMobilePhone: 'Mobile',
      MemberDirectPhone: 'Direct',
      MemberOfficePhone: 'Office',
      MemberHomePhone: 'Home',
      MemberTollFreePhone: 'Toll Free',
      MemberFax: 'Fax',
    }),
    Addresses: addressOf('Member'),
  },
  Office: {
    Id: fields('OfficeKey'),
    Name: fields('OfficeName'),
    FirstName: constant(''),
    LastName: constant(''),
    UserType: constant('Office'),
    Status: fields('OfficeStatus'),
    Office: fields('OfficeName'),
    OfficeId: fields('OfficeKey'),
    Company: fields('FranchiseAffiliation'),
    CompanyId: fields('MainOfficeKey'),
    Mls: fields('OriginatingSystemName'),
    MlsId: fields('OriginatingSystemID'),
    LicenseNumber: fields('OfficeCorporateLicense'),
    ModificationTimestamp: fields('ModificationTimestamp'),
    Emails: fields('OfficeEmail'),
    Phones: phones({ OfficePhone: 'Office', OfficeFax: 'Fax' }),
    Addresses: addressOf('Office'),
  },
};

/** Lists that do not come from fields of the record. */
const OTHER_LISTS = ['Images', 'Websites'];
/** Members of an account that are lists of objects. */
export const LISTS: ReadonlySet<string> = new Set(['Emails', 'Phones', 'Addresses', ...OTHER_LISTS]);

/** A field that an account contains, and the navigation that leads to it. */
interface AccountField {
  readonly field: Field;
  readonly via: readonly Navigation[];
}

/**
 * The name under which the store returns a value. It distinguishes fields of the office from fields of the member with the same
 * name.
 */
export const valueName = (name: string, of: 'record' | 'office'): string =>
  of === 'office' ? `Office/${name}` : name;

/** The origin of the value of a member. Names come from requests, so properties that every object inherits are excluded. */
const originOf = (type: UserType, name: string): Origin | undefined =>
  Object.hasOwn(ACCOUNT[type], name) ? ACCOUNT[type][name] : undefined;

/** The fields from which a member of an account is derived, as far as the key sees them. */
export function accountFields(schema: Schema, type: UserType, name: string): AccountField[] {
  const origin = originOf(type, name);
  const schemaOfType = schema.of(type);
  const ownField = (each: string): AccountField[] => {
    const found = schemaOfType.findField(each);
    return found.kind === 'visible' ? [{ field: found.field, via: [] }] : [];
  };
  const ofOffice = (each: string): AccountField[] => {
    const office = schemaOfType.resource.navigations.get('Office');
    const found = schema.find('Office')?.findField(each);
    return office !== undefined && found?.kind === 'visible' ? [{ field: found.field, via: [office] }] : [];
  };
  switch (origin?.kind) {
    case 'fields':
      return origin.names.flatMap(ownField);
    case 'office':
      return ofOffice(origin.name);
    case 'office-else-own':
      return [...ofOffice(origin.name), ...ownField(origin.name)];
    case 'constant':
    case undefined:
      return [];
  }
}

/** The names that are valid in filters and selections of accounts, and their meanings for one of the two resources. */
export function accountNames(schema: Schema, type: UserType): NativeNames {
  return {
    collection: 'accounts',
    find: (name) => findName(schema, type, name),
    findCustom: () => ({ kind: 'unknown' }),
    lookup: (name) => schema.lookup(name),
    names: () => [
      ...Object.keys(ACCOUNT[type]).filter((name) => isKnown(schema, type, name)),
      ...OTHER_LISTS,
    ],
    customNames: () => [],
    always: ['ResourceUri'],
    // For a RESO field name, the member of an account that has its value.
    counterparts: () =>
      Object.entries(ACCOUNT[type])
        .filter(([, { kind }]) => kind === 'fields')
        .flatMap(([name]) =>
          accountFields(schema, type, name).map(({ field }) => [field.name, name] as const),
        ),
  };
}

function isKnown(schema: Schema, type: UserType, name: string): boolean {
  const { kind } = findName(schema, type, name);
  return kind !== 'unknown' && kind !== 'hidden';
}

function findName(schema: Schema, type: UserType, name: string): NativeName {
  const origin = originOf(type, name);
  if (OTHER_LISTS.includes(name)) return { kind: 'composite', fields: [] };
  if (origin === undefined) return { kind: 'unknown' };
  if (origin.kind === 'constant') return origin;
  const found = accountFields(schema, type, name);
  if (LISTS.has(name)) return { kind: 'composite', fields: found.map((each) => each.field) };
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    const texts = [first, second].map(({ field, via }) => fieldOf(field, via));
    return { kind: 'computed', expression: firstNonNull(texts) };
  }
  if (first !== undefined) return { kind: 'field', ...first };
  const own = origin.kind === 'fields' ? schema.of(type).findField(origin.names[0] ?? '') : undefined;
  return own?.kind === 'hidden' ? { kind: 'hidden', field: own.field } : { kind: 'unknown' };
}

const NULL: Literal = { kind: 'literal', type: 'null', value: null };

/** The first text that is not null. */
const firstNonNull = (texts: readonly FieldReference[]): Expression => ({
  kind: 'case',
  type: 'string',
  branches: texts.map((then) => ({
    when: { kind: 'compare', operator: 'ne', left: then, right: NULL } as const,
    then,
  })),
});

/** An account as the store returns it: values by the names of their RESO fields, and its pictures. */
export interface FlatAccount {
  readonly '@resource': UserType;
  readonly Images?: readonly {
    readonly Id: string;
    readonly Name: string | null;
    readonly Uri: string | null;
  }[];
  readonly [field: string]: unknown;
}

/**
 * The text of an account in the native interface.
 *
 * @param selected the members to include besides Id and ResourceUri; undefined: all
 */
export function accountText(record: FlatAccount, selected: ReadonlySet<string> | undefined): string {
  const type = record['@resource'];
  const id = singleValue(record, ACCOUNT[type].Id);
  const account: Record<string, unknown> = {
    Id: id,
    ResourceUri: `/v1/accounts/${encodeURIComponent(String(id))}`,
  };
  for (const [name, origin] of Object.entries(ACCOUNT[type])) {
    if (name !== 'Id' && (selected?.has(name) ?? true)) {
      account[name] = LISTS.has(name) ? listValue(record, name, origin) : singleValue(record, origin);
    }
  }
  if (selected?.has('Websites') ?? true) account.Websites = [];
  if (selected?.has('Images') ?? true) {
    account.Images = record.Images?.map(({ Id, Name, Uri }) => ({ Id, Type: 'Photo', Name, Uri })) ?? [];
  }
  return JSON.stringify(account);
}

/** The names under which the store returns the values of a member. */
function valuesOf(origin: Origin): readonly string[] {
  switch (origin.kind) {
    case 'fields':
      return origin.names;
    case 'office':
      return [valueName(origin.name, 'office')];
    case 'office-else-own':
      return [valueName(origin.name, 'office'), origin.name];
    case 'constant':
      return [];
  }
}

function singleValue(record: FlatAccount, origin: Origin = constant('')): unknown {
  if (origin.kind === 'constant') return origin.text === '' ? null : origin.text;
  const found = valuesOf(origin).find((each) => (record[each] ?? null) !== null);
  return found === undefined ? null : record[found];
}

/** A member that is a list of objects, one for each distinct value among its fields. */
function listValue(record: FlatAccount, name: string, origin: Origin): unknown[] {
  const present = new Map<string, number>();
  for (const [at, field] of valuesOf(origin).entries()) {
    const value = record[field];
    if (typeof value === 'string' && value !== '' && !present.has(value)) present.set(value, at);
  }
  if (name === 'Addresses') {
    const Address = [...present.keys()].join(', ');
    return present.size === 0 ? [] : [{ Id: '1', Type: 'Primary', Name: 'Primary', Address, Primary: true }];
  }
  const types = origin.kind === 'fields' ? origin.types : undefined;
  return [...present].map(([value, at], index) => {
    const type = types?.[at] ?? 'Email';
    const held = name === 'Phones' ? { Number: value } : { Address: value };
    return { Id: `${index + 1}`, Type: type, Name: type, ...held, Primary: index === 0 };
  });
}
