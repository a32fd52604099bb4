import { ACCOUNT, type UserType, valueName } from './account-names.ts';

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
