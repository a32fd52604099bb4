import type { Field, Navigation } from '../../dictionary/index.ts';
import type { NativeName, NativeNames } from '../../query/native/names.ts';
import type { ResourceSchema, Schema } from '../../query/schema.ts';
import type { Expression, FieldReference, Literal } from '../../query/tree.ts';

/** The two kinds of accounts. */
export const USER_TYPES = ['Member', 'Office'] as const;
export type UserType = (typeof USER_TYPES)[number];

/** Where a part of an account comes from: fields of the record, or of the member's office. */
type Source =
  | { readonly kind: 'fields'; readonly names: readonly string[] }
  | { readonly kind: 'office'; readonly name: string }
  /** A field of the office as it is now; without an office that the key sees, the record's own of the same name. */
  | { readonly kind: 'office-else-own'; readonly name: string }
  | { readonly kind: 'constant'; readonly text: string };

const field = (name: string): Source => ({ kind: 'fields', names: [name] });
const fields = (...names: string[]): Source => ({ kind: 'fields', names });

/** The members of an account (reference: native-v1, Accounts), by kind. */
export const ACCOUNT: Readonly<Record<UserType, Readonly<Record<string, Source>>>> = {
  Member: {
    Id: field('MemberKey'),
    Name: field('MemberFullName'),
    FirstName: field('MemberFirstName'),
    LastName: field('MemberLastName'),
    UserType: { kind: 'constant', text: 'Member' },
    Status: field('MemberStatus'),
    Office: { kind: 'office-else-own', name: 'OfficeName' },
    OfficeId: field('OfficeKey'),
    Company: { kind: 'office', name: 'FranchiseAffiliation' },
    CompanyId: { kind: 'office', name: 'MainOfficeKey' },
    Mls: field('OriginatingSystemName'),
    MlsId: field('OriginatingSystemID'),
    LicenseNumber: field('MemberStateLicense'),
    ModificationTimestamp: field('ModificationTimestamp'),
    Emails: field('MemberEmail'),
    Phones: fields(
      'MemberPreferredPhone',
      'MemberMobilePhone',
      'MemberDirectPhone',
      'MemberOfficePhone',
      'MemberHomePhone',
      'MemberTollFreePhone',
      'MemberFax',
    ),
    Addresses: fields(
      'MemberAddress1',
      'MemberAddress2',
      'MemberCity',
      'MemberStateOrProvince',
      'MemberPostalCode',
    ),
  },
  Office: {
    Id: field('OfficeKey'),
    Name: field('OfficeName'),
    FirstName: { kind: 'constant', text: '' },
    LastName: { kind: 'constant', text: '' },
    UserType: { kind: 'constant', text: 'Office' },
    Status: field('OfficeStatus'),
    Office: field('OfficeName'),
    OfficeId: field('OfficeKey'),
    Company: field('FranchiseAffiliation'),
    CompanyId: field('MainOfficeKey'),
    Mls: field('OriginatingSystemName'),
    MlsId: field('OriginatingSystemID'),
    LicenseNumber: field('OfficeCorporateLicense'),
    ModificationTimestamp: field('ModificationTimestamp'),
    Emails: field('OfficeEmail'),
    Phones: fields('OfficePhone', 'OfficeFax'),
    Addresses: fields(
      'OfficeAddress1',
      'OfficeAddress2',
      'OfficeCity',
      'OfficeStateOrProvince',
      'OfficePostalCode',
    ),
  },
};

/** Members of an account that are lists of objects. */
const COMPOSITE = new Set(['Emails', 'Phones', 'Addresses', 'Images', 'Websites']);

/** A value of an account record, and where it is found. */
export interface AccountField {
  readonly field: Field;
  readonly via: readonly Navigation[];
}

/** What the store is to call the value: an office has fields of the same names as its members. */
export const valueName = (name: string, of: 'record' | 'office'): string =>
  of === 'office' ? `Office/${name}` : name;

/** Names come from requests: what every object inherits is no part of an account. */
const sourceOf = (type: UserType, name: string): Source | undefined =>
  Object.hasOwn(ACCOUNT[type], name) ? ACCOUNT[type][name] : undefined;

/** The visible fields that a part of an account is made of. */
export function accountFields(schema: Schema, type: UserType, name: string): AccountField[] {
  const source = sourceOf(type, name);
  const own = schema.of(type);
  const ownField = (each: string): AccountField[] => {
    const found = own.findField(each);
    return found.kind === 'visible' ? [{ field: found.field, via: [] }] : [];
  };
  const ofOffice = (each: string): AccountField[] => {
    const office = own.resource.navigations.get('Office');
    const found = schema.find('Office')?.findField(each);
    return office !== undefined && found?.kind === 'visible' ? [{ field: found.field, via: [office] }] : [];
  };
  switch (source?.kind) {
    case 'fields':
      return source.names.flatMap(ownField);
    case 'office':
      return ofOffice(source.name);
    case 'office-else-own':
      return [...ofOffice(source.name), ...ownField(source.name)];
    case 'constant':
    case undefined:
      return [];
  }
}

/** Names of accounts, as one of the two resources understands them. */
export function accountNames(schema: Schema, type: UserType): NativeNames {
  const names = Object.keys(ACCOUNT[type]);
  return {
    collection: 'accounts',
    find: (name) => findName(schema, type, name),
    findCustom: () => ({ kind: 'unknown' }),
    lookup: (name) => schema.lookup(name),
    names: () => [...names, 'Images', 'Websites'],
    customNames: () => [],
    counterparts: () => counterparts(schema, type),
  };
}

/** The fields of the record, each with the part of an account that gives it. */
function* counterparts(schema: Schema, type: UserType): Generator<readonly [string, string]> {
  for (const [name, source] of Object.entries(ACCOUNT[type])) {
    if (source.kind !== 'fields') continue;
    for (const { field: given } of accountFields(schema, type, name)) yield [given.name, name];
  }
}

function findName(schema: Schema, type: UserType, name: string): NativeName {
  const source = sourceOf(type, name);
  if (name === 'Images' || name === 'Websites') return { kind: 'composite', fields: [] };
  if (source === undefined) return { kind: 'unknown' };
  if (source.kind === 'constant') return { kind: 'constant', text: source.text };
  const found = accountFields(schema, type, name);
  if (COMPOSITE.has(name)) return { kind: 'composite', fields: found.map((each) => each.field) };
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    return { kind: 'computed', expression: firstOf([first, second].map(reference)) };
  }
  if (first !== undefined) return { kind: 'field', ...first };
  const hidden = hiddenField(schema.of(type), source);
  return hidden === undefined ? { kind: 'unknown' } : { kind: 'hidden', field: hidden };
}

const reference = ({ field, via }: AccountField): FieldReference => ({
  kind: 'field',
  type: 'string',
  scope: 0,
  via,
  field,
});

const NULL: Literal = { kind: 'literal', type: 'null', value: null };

/** The first of some texts that is there. */
function firstOf(texts: readonly FieldReference[]): Expression {
  const branches = texts.map((then) => {
    const when = { kind: 'compare', operator: 'ne', left: then, right: NULL } as const;
    return { when, then };
  });
  return { kind: 'case', type: 'string', branches };
}

function hiddenField(own: ResourceSchema, source: Source): Field | undefined {
  if (source.kind !== 'fields') return undefined;
  const found = own.findField(source.names[0] ?? '');
  return found.kind === 'hidden' ? found.field : undefined;
}

/** An account as the store gives it: fields by their RESO names, and its pictures. */
export interface FlatAccount {
  readonly '@resource': UserType;
  readonly Images?: readonly {
    readonly Id: string;
    readonly Name: string | null;
    readonly Uri: string | null;
  }[];
  readonly [field: string]: unknown;
}

const PHONE_TYPES: Readonly<Record<string, string>> = {
  MemberPreferredPhone: 'Preferred',
  MemberMobilePhone: 'Mobile',
  MemberDirectPhone: 'Direct',
  MemberOfficePhone: 'Office',
  MemberHomePhone: 'Home',
  MemberTollFreePhone: 'Toll Free',
  MemberFax: 'Fax',
  OfficePhone: 'Office',
  OfficeFax: 'Fax',
};

/**
 * An account in the native interface (reference: native-v1, Accounts).
 * @param selected names of the members to give, beside Id and ResourceUri; undefined: all
 */
export function accountText(record: FlatAccount, selected: ReadonlySet<string> | undefined): string {
  const type = record['@resource'];
  const id = one(record, type, 'Id');
  const account: Record<string, unknown> = {
    Id: id,
    ResourceUri: `/v1/accounts/${encodeURIComponent(String(id))}`,
  };
  for (const name of Object.keys(ACCOUNT[type])) {
    if (name !== 'Id' && (selected?.has(name) ?? true)) account[name] = member(record, type, name);
  }
  if (selected?.has('Websites') ?? true) account.Websites = [];
  if (selected?.has('Images') ?? true) account.Images = images(record);
  return JSON.stringify(account);
}

function member(record: FlatAccount, type: UserType, name: string): unknown {
  switch (name) {
    case 'Emails':
      return present(record, type, name).map(([, address], index) => {
        return { Id: `${index + 1}`, Type: 'Email', Name: 'Email', Address: address, Primary: index === 0 };
      });
    case 'Phones':
      return present(record, type, name).map(([field, number], index) => {
        const kind = PHONE_TYPES[field] ?? 'Other';
        return { Id: `${index + 1}`, Type: kind, Name: kind, Number: number, Primary: index === 0 };
      });
    case 'Addresses': {
      const lines = present(record, type, name).map(([, line]) => line);
      return lines.length === 0
        ? []
        : [{ Id: '1', Type: 'Primary', Name: 'Primary', Address: lines.join(', '), Primary: true }];
    }
    default:
      return one(record, type, name);
  }
}

function namesOf(type: UserType, name: string): readonly string[] {
  const source = ACCOUNT[type][name];
  switch (source?.kind) {
    case 'fields':
      return source.names;
    case 'office':
      return [valueName(source.name, 'office')];
    case 'office-else-own':
      return [valueName(source.name, 'office'), source.name];
    case 'constant':
    case undefined:
      return [];
  }
}

function one(record: FlatAccount, type: UserType, name: string): unknown {
  const source = ACCOUNT[type][name];
  if (source?.kind === 'constant') return source.text === '' ? null : source.text;
  const found = namesOf(type, name).find((each) => (record[each] ?? null) !== null);
  return found === undefined ? null : record[found];
}

/** The fields of a list that have a value, each value once. */
function present(record: FlatAccount, type: UserType, name: string): [string, string][] {
  const found = new Map<string, string>();
  for (const field of namesOf(type, name)) {
    const value = record[field];
    if (typeof value === 'string' && value !== '' && !found.has(value)) found.set(value, field);
  }
  return [...found].map(([value, field]) => [field, value]);
}

function images({ Images = [] }: FlatAccount): unknown[] {
  return Images.map(({ Id, Name, Uri }) => ({ Id, Type: 'Photo', Name, Uri }));
}
