/** Accounts of the native interface as Members and Offices (reference: native-v1, Accounts). */
import { type JsonObject, objectsIn } from '../../../shared/json.ts';
import { MASK, type SourceItem } from '../source.ts';

/** How an account becomes a record. */
interface AccountMapping {
  /** From fields of the record to members of the account. */
  readonly fields: Readonly<Record<string, string>>;
  readonly email: string;
  /** From types of phones to fields. */
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

/** The resource of an account; undefined if it is neither a person nor an office. */
export const resourceOfAccount = ({ UserType: type }: JsonObject): string | undefined =>
  typeof type === 'string' && MAPPINGS.has(type) ? type : undefined;

/** An account as a Member or an Office, without absent and masked values; undefined for any other. */
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
