/** Random requests whose responses would differ if a role could see any difference between the twins. */
import type { Random } from '../oracle/random.ts';
import { HIDDEN, PLACED, SECRETS, SYSTEM, VISIBLE } from './twins.ts';

export type ProbeSurface = 'api' | 'replication' | 'floorplans';

export interface Probe {
  readonly surface: ProbeSurface;
  readonly path: string;
  readonly method: 'GET' | 'HEAD';
  readonly headers: Readonly<Record<string, string>>;
}

const { first, second } = SECRETS;

/** Fields that are visible, visible in some rows, or never visible, with values of both twins. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  City: ['Bremen', 'Zug', first.word, second.word],
  StreetName: ['Granite Street', `${first.word} Street`, `${second.word} Street`],
  UnparsedAddress: ['3 Granite Street', `3 ${first.word} Street`, `7 ${second.word} Street`],
  ParcelNumber: ['Granite-1', `${first.word}-3`, `${second.word}-3`],
  Directions: ['Left at Granite', `Left at ${first.word}`, `Left at ${second.word}`],
  PublicRemarks: ['A house of granite, number 1', `${first.word} and granite`, `${second.word} and granite`],
  PrivateRemarks: [`${first.word} gate code 1`, `${second.word} gate code 1`],
  OwnerName: [`${first.word} 0`, `${second.word} 1`],
  LockBoxLocation: [first.word, second.word, `${first.word} door`],
  ShowingInstructions: [`Call ${first.word}`, `Call ${second.word}`],
  ListAgentFullName: ['Agent A1', first.word, second.word],
  ListAgentHomePhone: [first.phone, second.phone],
  'ListAgent/MemberHomePhone': [first.phone, second.phone],
  'ListAgent/MemberFullName': ['Agent A2', first.word],
  'ListOffice/OfficeAssociationComments': [first.phone, second.phone],
  ListingKey: [...VISIBLE.slice(0, 3), ...HIDDEN],
  StandardStatus: ['Active', 'Incomplete', 'Pending'],
};
const NUMBERS: Readonly<Record<string, readonly number[]>> = {
  ListPrice: [150_000, first.price, second.price, 0],
  Latitude: [44.6, first.latitude, second.latitude],
  Longitude: [-85.5, 0],
  BedroomsTotal: [1, 3, 9],
  'Media/$count': [3, 4, 5],
  'Rooms/$count': [1, 2],
};
const MOMENTS = [
  '2026-06-01T12:10:00Z',
  '2026-06-01T12:11:00Z',
  '2026-06-01T12:21:30Z',
  '2026-06-01T13:00:00Z',
];
const CHILDREN = ['Media', 'Rooms', 'UnitTypes', 'OpenHouses'] as const;
const PARTS = ['photos', 'rooms', 'units', 'openhouses', 'floorplans', 'documents', 'customfields'] as const;

const HEADERS: readonly Probe['headers'][] = [
  ...[{}, {}, {}, {}, {}],
  { prefer: 'omit-values=nulls' },
  { prefer: 'odata.include-annotations="*"' },
  { prefer: 'odata.maxpagesize=3' },
  { prefer: 'odata.track-changes' },
  { 'if-none-match': '*' },
  { 'if-none-match': 'W/"x"' },
  { accept: 'application/xml' },
];

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

export function probe(random: Random): Probe {
  const { pick, chance } = random;
  const keys = [...HIDDEN, ...HIDDEN, ...VISIBLE];
  const key = (): string => pick(keys);
  const childKey = (): string => `${key()}-${pick(['P1', 'S', 'F', 'FS', 'R', 'U', 'O'])}`;
  const textField = (): string => pick(Object.keys(TEXTS));
  const numberField = (): string => pick(Object.keys(NUMBERS));
  const field = (): string => (chance(0.6) ? textField() : pick(['ListPrice', 'Latitude', 'BedroomsTotal']));
  const plain = (): string => field().split('/')[0] ?? 'City';

  function condition(depth: number): string {
    if (depth > 0 && chance(0.35)) {
      return pick([
        `(${condition(depth - 1)} ${pick(['and', 'or'])} ${condition(depth - 1)})`,
        `not (${condition(depth - 1)})`,
      ]);
    }
    const name = textField();
    const value = text(pick(TEXTS[name] ?? ['x']));
    const number = numberField();
    const operator = pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le']);
    return pick([
      `${name} ${operator} ${value}`,
      `${name} eq null`,
      `${name} in (${value},${text(pick(TEXTS[name] ?? ['x']))})`,
      `${pick(['contains', 'startswith', 'endswith'])}(${name},${value})`,
      `length(${name}) ${operator} ${random.between(3, 20)}`,
      `matchespattern(${name},'^${pick([first.word, second.word, 'Gran'])}')`,
      `concat(${name},${name}) gt ${value}`,
      `${number} ${operator} ${pick(NUMBERS[number] ?? [0])}`,
      `${number} eq null`,
      `ListPrice add ${pick([1, first.price])} gt ${second.price}`,
      `ModificationTimestamp ${operator} ${pick(MOMENTS)}`,
      `Media/any(m:m/MediaKey eq ${text(childKey())})`,
      `Media/any(m:m/ShortDescription eq ${text(pick([first.word, second.word, 'kitchen']))})`,
      `Media/all(m:m/Order lt ${random.between(2, 6)})`,
      `Media/$filter(Order gt 2)/$count ${operator} ${random.between(0, 3)}`,
      `Rooms/any(r:r/RoomType eq 'Bedroom')`,
      `OpenHouses/any(o:o/OpenHouseDate eq 2026-06-07)`,
      `geo.distance(Coordinates,geography'POINT(-85.5 ${pick([first.latitude, second.latitude])})') lt ${pick([10, 100_000])}`,
      `ListAgent eq null`,
      `ListAgentKey eq ${text(pick(['A1', 'A3']))}`,
    ]);
  }

  const orderTerm = (): string =>
    `${pick([field(), 'ModificationTimestamp', 'Media/$count', 'length(StreetName)', 'ListAgent/MemberHomePhone'])}${pick(['', ' desc'])}`;
  const option = (): string =>
    pick([
      `$filter=${condition(2)}`,
      `$filter=${condition(1)}`,
      `$orderby=${orderTerm()}`,
      `$orderby=${orderTerm()},${orderTerm()}`,
      `$select=${plain()},${plain()}`,
      `$expand=${pick(CHILDREN)}`,
      `$expand=Media($filter=${pick(['Order gt 2', `ShortDescription eq '${first.word}'`])};$count=true;$orderby=Order desc)`,
      `$expand=ListAgent($expand=Office),ListOffice`,
      '$expand=*',
      '$count=true',
      `$top=${random.between(0, 7)}`,
      `$skip=${random.between(0, 17)}`,
      `$search=${pick([first.word, second.word, 'granite', 'Bremen', `NOT ${first.word}`, `granite AND ${second.word}`])}`,
      `$compute=concat(${pick(['StreetName', 'City', 'PrivateRemarks', 'UnparsedAddress'])},'!') as Loud`,
      `$compute=Media/$count as Pictures`,
      `$skiptoken=${key()}`,
      `$deltatoken=${key()}`,
      `$format=application/json;odata.metadata=${pick(['full', 'none'])}`,
      `$filter=City eq @a&@a=${text(pick([first.word, second.word, 'Zug']))}`,
    ]);
  const options = (): string => {
    const byName = new Map<string, string>();
    for (let left = pick([0, 1, 1, 2, 2, 3, 4]); left > 0; left--) {
      const made = option();
      byName.set(made.slice(0, made.indexOf('=')), made);
    }
    return byName.size === 0 ? '' : `?${[...byName.values()].join('&')}`;
  };
  const mediaOptions = (): string =>
    pick([
      '',
      '?$count=true',
      `?$filter=Order gt ${random.between(1, 5)}`,
      `?$filter=OriginatingSystemResourceRecordSystemID eq '${SYSTEM}'`,
      `?$filter=FloplanKey eq ${text(pick([first.word, second.word, 'G1']))}`,
      '?$orderby=FloplanKey desc&$top=3',
      `?$filter=ResourceRecordKey eq ${text(key())}`,
      `?$skip=${random.between(0, 40)}&$top=5`,
    ]);

  const number = (): number => random.between(120, 420);
  const eventOptions = (): string =>
    pick([
      `?$filter=EntityEventSequence ${pick(['gt', 'ge', 'le'])} ${number()}`,
      `?$filter=EntityEventSequence gt ${number()} and ResourceName eq '${pick(['Property', 'Media', 'Member', 'Lookup'])}'`,
      `?$filter=ResourceRecordKey in (${text(key())},${text(childKey())},'City.${pick([first.word, second.word, 'Zug'])}')`,
      `?$filter=contains(ResourceRecordKey,${text(pick([first.word, second.word, 'H']))})&$count=true`,
      `?$orderby=${pick(['EntityEventSequence desc', 'ResourceName desc', 'ResourceRecordKey'])}&$top=${random.between(0, 9)}`,
      `?$skip=${random.between(0, 300)}&$top=${random.between(1, 9)}&$count=true`,
      `?$skiptoken=${number()}&$top=3`,
    ]);

  const reso = (): string =>
    `/Reso/OData/${pick([
      `Property${options()}`,
      `Property${options()}`,
      `Property${options()}`,
      `Property/$count${pick(['', `?$filter=${condition(2)}`])}`,
      `Property('${key()}')${pick(['', '', '?$expand=*', '?$select=City,OwnerName'])}`,
      `Property('${key()}')/${pick([...CHILDREN, 'ListAgent', 'ListOffice', 'ListAgent/Office'])}`,
      `Property('${key()}')/${plain()}${pick(['', '/$value'])}`,
      `Property('${key()}')/Media/$count`,
      `Property('${key()}')/Media('${childKey()}')`,
      `Media${mediaOptions()}`,
      `Media('${childKey()}')${pick(['', '/MediaURL/$value', '/ShortDescription'])}`,
      `Room('${childKey()}')`,
      `OpenHouse${pick(['', '?$count=true', '?$filter=OpenHouseDate eq 2026-06-07'])}`,
      `${pick(['Member', 'Office'])}${pick(['', '?$count=true', "?$filter=contains(MemberFullName,'Agent')", '?$expand=Office', '?$orderby=OfficeName'])}`,
      `Member('${pick(['A1', 'A3', 'A9'])}')${pick(['', '/MemberHomePhone', '/Office'])}`,
      `Office('${pick(['O1', 'O2', 'O9'])}')${pick(['', '/OfficeAssociationComments'])}`,
      'Lookup?$top=20',
      `Lookup?$count=true&$filter=LookupName eq '${pick(['City', 'CountyOrParish', 'PostalCity', 'StandardStatus'])}'`,
      `Lookup('City.${pick([first.word, second.word, 'Zug'])}')`,
      'Field?$count=true&$top=5',
      `EntityEvent${eventOptions()}`,
      `EntityEvent${eventOptions()}`,
      `EntityEvent/$count${pick(['', `?$filter=EntityEventSequence gt ${number()}`])}`,
      `EntityEvent(${number()})${pick(['', '/ResourceRecordKey', '/ResourceName/$value'])}`,
      '$metadata',
      '',
    ])}`;

  const nativeCondition = (): string => {
    const name = plain();
    const values = TEXTS[name];
    return pick([
      values === undefined
        ? `${name} Gt ${pick(NUMBERS[name] ?? [1])}`
        : `${name} ${pick(['Eq', 'Ne'])} ${text(pick(values))}`,
      `${name} Eq NULL`,
      `ListPrice Bt ${first.price},${second.price}`,
      `ModificationTimestamp Bt ${pick(MOMENTS)},${pick(MOMENTS)}`,
      `Location Eq radius('${pick([first.latitude, 44.55])} -85.5',${pick([0.1, 50])})`,
      `Location ${pick(['Eq', 'Ne'])} radius('${pick([PLACED.hidden, PLACED.withheld])}',${pick([0.1, 50])})`,
      `Location Eq linestring('${pick([first.latitude, 44])} -85.5, 46 -85.5')`,
      `${name} Eq '*${pick([first.word, second.word, 'ran'])}*'`,
    ]);
  };
  const native = (): string =>
    `/v1/${pick([
      `listings?_filter=${nativeCondition()}`,
      `listings?_filter=${nativeCondition()} ${pick(['And', 'Or', 'And Not'])} ${nativeCondition()}&_pagination=1`,
      `listings?_orderby=${pick(['', '-'])}${plain()}&_limit=${random.between(1, 9)}`,
      `listings?_expand=${pick(['Photos', 'Rooms', 'Units', 'OpenHouses', 'FloorPlans', 'PrimaryPhoto', 'CustomFields', 'Supplement'])}`,
      `listings?_select=${plain()},${plain()}&_page=${random.between(1, 3)}&_limit=6`,
      `listings?_skiptoken=${key()}&_limit=4`,
      `listings/${key()}${pick(['', '?_expand=Photos,FloorPlans'])}`,
      `listings/${key()}/${pick(PARTS)}`,
      `listings/${key()}/photos/${childKey()}`,
      `listings/nearby?_lat=${pick([first.latitude, 44.55])}&_lon=-85.5`,
      `accounts${pick(['', '?_pagination=1', `?_filter=Name Eq '${pick([first.word, 'Agent A1'])}'`, '?_orderby=Name'])}`,
      `accounts/${pick(['A1', 'A3', 'O1', 'O2', 'none'])}`,
      'accounts/by/office/O2',
      pick([
        'standardfields',
        'customfields',
        'system',
        'propertytypes',
        'openhouses',
        'my/account',
        'nothing',
      ]),
    ])}`;

  const surface = pick(['api', 'api', 'api', 'replication', 'replication', 'floorplans'] as const);
  const path =
    surface === 'floorplans'
      ? `/Reso/${pick([`Media${mediaOptions()}`, `Media('${childKey()}')`, 'Media/$count', '$metadata'])}`
      : chance(0.6)
        ? reso()
        : native();
  const headers = pick(HEADERS);
  return { surface, path, headers, method: chance(0.06) ? 'HEAD' : 'GET' };
}
