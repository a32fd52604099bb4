import type { Field, Navigation } from '../../dictionary/index.ts';
import type { NativeName, NativeNames } from '../../query/native/index.ts';
import type { ResourceSchema, Schema } from '../../query/schema.ts';

/** The two kinds of accounts. */
export const USER_TYPES = ['Member', 'Office'] as const;
export type UserType = (typeof USER_TYPES)[number];

/** Where a part of an account comes from: fields of the record, or of the member's office. */
type Source =
  | { readonly kind: 'fields'; readonly names: readonly string[] }
  | { readonly kind: 'office'; readonly name: string }
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
    Office: field('OfficeName'),
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

/** Names come from requests: what every object inherits is no part of an account. */
const sourceOf = (type: UserType, name: string): Source | undefined =>
  Object.hasOwn(ACCOUNT[type], name) ? ACCOUNT[type][name] : undefined;

/** The visible fields that a part of an account is made of. */
export function accountFields(schema: Schema, type: UserType, name: string): AccountField[] {
  const source = sourceOf(type, name);
  if (source === undefined || source.kind === 'constant') return [];
  const own = schema.of(type);
  if (source.kind === 'office') {
    const office = own.resource.navigations.get('Office');
    const found = schema.of('Office').findField(source.name);
    return office !== undefined && found.kind === 'visible' ? [{ field: found.field, via: [office] }] : [];
  }
  return source.names.flatMap((each) => {
    const found = own.findField(each);
    return found.kind === 'visible' ? [{ field: found.field, via: [] }] : [];
  });
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
  const [first] = found;
  if (first !== undefined) return { kind: 'field', ...first };
  const hidden = hiddenField(schema.of(type), source);
  return hidden === undefined ? { kind: 'unknown' } : { kind: 'hidden', field: hidden };
}

function hiddenField(own: ResourceSchema, source: Source): Field | undefined {
  if (source.kind !== 'fields') return undefined;
  const found = own.findField(source.names[0] ?? '');
  return found.kind === 'hidden' ? found.field : undefined;
}
