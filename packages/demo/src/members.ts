import { drawPhone, plainName } from './contacts.ts';
import { type MarketContext, memberStream, officeStream, systemOfOffice } from './context.ts';
import { FIRST_NAMES, LAST_NAMES } from './data/people.ts';
import { STATE, TOWNS } from './data/places.ts';
import { DAY, dateText, timestampText } from './dates.ts';
import { makeKey } from './keys.ts';
import { officeDomain, officeMlsId, officeName } from './offices.ts';
import { filled } from './records.ts';
import type { FieldValues } from './values.ts';

const LANGUAGES = ['Spanish', 'Arabic', 'Polish', 'German', 'Mandarin', 'Vietnamese', 'Hindi', 'French'];
const DESIGNATIONS = [
  "Accredited Buyer's Representative / ABR",
  'Certified Residential Specialist / CRS',
  'e-PRO',
  'Graduate, REALTOR Institute / GRI',
  'Seller Representative Specialist / SRS',
  'Seniors Real Estate Specialist / SRES',
  'Military Relocation Professional / MRP',
];

function memberMlsId(market: MarketContext, member: number): string {
  return `${systemOfOffice(memberStream(market, member).office).prefix}A${(10_000 + member).toString()}`;
}

/** The Member record with this serial. */
export function makeMember(market: MarketContext, member: number): FieldValues {
  return memberOf(market, member, memberStream(market, member));
}

/** The Member record of an agent who joins at this moment; `member` is a serial beyond those of the market. */
export function makeFreshMember(market: MarketContext, member: number, now: number): FieldValues {
  const stream = memberStream(market, member);
  const entered = Math.floor(now / 1000) * 1000;
  const key = (): string => makeKey('member', entered, member);
  return memberOf(market, member, { ...stream, entered, key, active: true });
}

function memberOf(
  market: MarketContext,
  member: number,
  { key, entered, office, active, random }: ReturnType<typeof memberStream>,
): FieldValues {
  const system = systemOfOffice(office);
  const broker = member < market.offices;
  const first = random.pick(FIRST_NAMES);
  const last = random.pick(LAST_NAMES);
  const middle = random.chance(0.25) ? random.pick(FIRST_NAMES) : undefined;
  const mobile = drawPhone(random);
  const desk = drawPhone(random);
  const town = random.pick(TOWNS);
  const languages = ['English', ...(random.chance(0.3) ? random.some(LANGUAGES, random.integer(1, 2)) : [])];
  return filled({
    MemberKey: key(),
    MemberMlsId: memberMlsId(market, member),
    MemberFirstName: first,
    MemberMiddleName: middle,
    MemberLastName: last,
    MemberFullName: [first, ...(middle === undefined ? [] : [`${middle.charAt(0)}.`]), last].join(' '),
    MemberLoginId: `${plainName(first).charAt(0)}${plainName(last)}${member}`.slice(0, 25),
    MemberEmail: `${plainName(first)}.${plainName(last)}@${officeDomain(office)}`,
    MemberPreferredPhone: random.chance(0.8) ? mobile : desk,
    MemberMobilePhone: mobile,
    MemberDirectPhone: desk,
    MemberOfficePhone: desk,
    MemberOfficePhoneExt: random.chance(0.4) ? random.integer(100, 480).toString() : undefined,
    MemberType: broker
      ? 'Designated REALTOR Participant'
      : random.weighted([
          ['REALTOR Salesperson', 80],
          ['REALTOR Broker Associate', 17],
          ['Licensed Assistant', 3],
        ]),
    JobTitle: broker ? 'Broker' : 'Agent',
    MemberStatus: active ? 'Active' : 'Inactive',
    MemberMlsAccessYN: active,
    MemberStateLicense: `65${broker ? '02' : '01'}${random.integer(100_000, 999_999)}`,
    MemberStateLicenseState: STATE,
    MemberStateLicenseExpirationDate: dateText(
      Math.max(market.now, entered) + random.integer(30, 1000) * DAY,
    ),
    MemberDesignation: random.chance(0.45) ? random.some(DESIGNATIONS, random.integer(1, 3)) : undefined,
    MemberLanguages: languages,
    MemberAOR: system.association,
    MemberCity: town.name,
    MemberStateOrProvince: STATE,
    MemberPostalCode: random.pick(town.neighborhoods).postalCode,
    MemberCountyOrParish: town.county,
    MemberCountry: 'US',
    MemberBio: random.chance(0.5)
      ? `${first} ${last} helps buyers and sellers in ${town.name} and around ${town.county} County.`
      : undefined,
    OfficeKey: officeStream(market, office).key(),
    OfficeMlsId: officeMlsId(office),
    OfficeName: officeName(market, office),
    OriginalEntryTimestamp: timestampText(entered),
    OriginatingSystemID: system.id,
    OriginatingSystemName: system.name,
    OriginatingSystemMemberKey: key(),
  });
}
