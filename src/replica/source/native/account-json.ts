import { isObject } from '../../json.ts';
import type { SourceItem } from '../source.ts';

type Json = Readonly<Record<string, unknown>>;

const MASK = '********';

/** From the types of phones to fields of a Member. */
const MEMBER_PHONES: ReadonlyMap<unknown, string> = new Map([
  ['Preferred', 'MemberPreferredPhone'],
  ['Mobile', 'MemberMobilePhone'],
  ['Direct', 'MemberDirectPhone'],
  ['Office', 'MemberOfficePhone'],
  ['Home', 'MemberHomePhone'],
  ['Toll Free', 'MemberTollFreePhone'],
  ['Fax', 'MemberFax'],
]);
const OFFICE_PHONES: ReadonlyMap<unknown, string> = new Map([
  ['Office', 'OfficePhone'],
  ['Fax', 'OfficeFax'],
]);

/**
 * An account as a Member or an Office (reference: native-v1, Accounts).
 * @returns undefined for what is no account
 */
export function accountItem(account: Json): SourceItem | undefined {
  if (account.UserType === 'Member') return { resource: 'Member', json: clean(member(account)) };
  if (account.UserType === 'Office') return { resource: 'Office', json: clean(office(account)) };
  return undefined;
}

/** Without what is not there, and without masks. */
function clean(json: Json): Json {
  return Object.fromEntries(
    Object.entries(json).filter(([, value]) => value !== undefined && value !== MASK && value !== ''),
  );
}

function member(account: Json): Json {
  return {
    MemberKey: account.Id,
    MemberFullName: account.Name,
    MemberFirstName: account.FirstName,
    MemberLastName: account.LastName,
    MemberStatus: account.Status,
    MemberStateLicense: account.LicenseNumber,
    OfficeKey: account.OfficeId,
    OfficeName: account.Office,
    OriginatingSystemName: account.Mls,
    OriginatingSystemID: account.MlsId,
    ModificationTimestamp: account.ModificationTimestamp,
    MemberEmail: firstOf(account.Emails, 'Address'),
    ...phones(account.Phones, MEMBER_PHONES, 'MemberPreferredPhone'),
  };
}

function office(account: Json): Json {
  return {
    OfficeKey: account.Id,
    OfficeName: account.Name,
    OfficeStatus: account.Status,
    OfficeCorporateLicense: account.LicenseNumber,
    FranchiseAffiliation: account.Company,
    MainOfficeKey: account.CompanyId,
    OriginatingSystemName: account.Mls,
    OriginatingSystemID: account.MlsId,
    ModificationTimestamp: account.ModificationTimestamp,
    OfficeEmail: firstOf(account.Emails, 'Address'),
    ...phones(account.Phones, OFFICE_PHONES, 'OfficePhone'),
  };
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The primary entry of a list, or else its first. */
function firstOf(list: unknown, name: string): unknown {
  const entries = listOf(list);
  return (entries.find((entry) => entry.Primary === true) ?? entries[0])?.[name];
}

function phones(list: unknown, fields: ReadonlyMap<unknown, string>, preferred: string): Json {
  const found: Record<string, unknown> = {};
  for (const entry of listOf(list)) {
    const field = fields.get(entry.Type);
    if (field !== undefined) found[field] ??= entry.Number;
  }
  const primary = firstOf(list, 'Number');
  if (primary !== undefined) found[preferred] ??= primary;
  return found;
}
