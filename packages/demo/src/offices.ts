import { drawPhone, plainName } from './contacts.ts';
import { type MarketContext, mainOfficeOf, memberStream, officeStream, systemOfOffice } from './context.ts';
import { BROKERAGE_ENDINGS, BROKERAGES } from './data/people.ts';
import { STATE, TOWNS } from './data/places.ts';
import { STREETS } from './data/streets.ts';
import { timestampText } from './dates.ts';
import { filled } from './records.ts';
import type { FieldValues } from './values.ts';

/** The name under which a firm trades; firms beyond the list of names add their town. */
function firmName(office: number): string {
  const firm = mainOfficeOf(office) ?? office;
  const name = BROKERAGES[firm % BROKERAGES.length] ?? '';
  const round = Math.floor(firm / BROKERAGES.length);
  const ending = BROKERAGE_ENDINGS[round % BROKERAGE_ENDINGS.length] ?? '';
  const beyond = Math.floor(round / BROKERAGE_ENDINGS.length);
  const town = beyond === 0 ? '' : ` of ${TOWNS[(beyond - 1) % TOWNS.length]?.name ?? ''}`;
  return `${name} ${ending}${town}`;
}

/** The name of one office: a branch adds where it is. */
export function officeName(market: MarketContext, office: number): string {
  const { random } = officeStream(market, office);
  const town = random.pick(TOWNS).name;
  return mainOfficeOf(office) === undefined ? firmName(office) : `${firmName(office)}, ${town}`;
}

export function officeMlsId(office: number): string {
  return `${systemOfOffice(office).prefix}F${(1000 + office).toString()}`;
}

/** The web domain of a firm; `.example` never resolves (RFC 2606). */
export function officeDomain(office: number): string {
  return `${plainName(firmName(office))}.example`;
}

/** The Office record with this serial. */
export function makeOffice(market: MarketContext, office: number): FieldValues {
  const { key, entered, random } = officeStream(market, office);
  const town = random.pick(TOWNS);
  const [street, suffix] = random.pick(STREETS);
  const system = systemOfOffice(office);
  const main = mainOfficeOf(office);
  const postalCode = random.pick(town.neighborhoods).postalCode;
  const broker = memberStream(market, office);
  return filled({
    OfficeKey: key(),
    OfficeMlsId: officeMlsId(office),
    OfficeName: officeName(market, office),
    OfficePhone: drawPhone(random),
    OfficeFax: random.chance(0.4) ? drawPhone(random) : undefined,
    OfficeEmail: `office@${officeDomain(office)}`,
    OfficeAddress1: `${random.integer(10, 4800)} ${street} ${suffix}`,
    OfficeAddress2: random.chance(0.3) ? `Suite ${random.integer(100, 420)}` : undefined,
    OfficeCity: town.name,
    OfficeStateOrProvince: STATE,
    OfficePostalCode: postalCode,
    OfficeCountyOrParish: town.county,
    OfficeCountry: 'US',
    OfficeStatus: 'Active',
    OfficeType: main === undefined ? 'Realtor Firm' : 'Realtor Branch Office',
    OfficeBranchType: main === undefined ? 'Main' : 'Branch',
    MainOfficeKey: main === undefined ? undefined : officeStream(market, main).key(),
    MainOfficeMlsId: main === undefined ? undefined : officeMlsId(main),
    OfficeBrokerKey: broker.key(),
    OfficeManagerKey: random.chance(0.5) ? broker.key() : undefined,
    OfficeAOR: system.association,
    OfficeCorporateLicense: `65${random.integer(10_000_000, 99_999_999)}`,
    OfficeBio: random.chance(0.5)
      ? `${firmName(office)} has sold homes, land and lake places in ${town.county} County since ${new Date(entered).getUTCFullYear()}.`
      : undefined,
    IDXOfficeParticipationYN: !random.chance(0.04),
    VirtualOfficeWebsiteYN: random.chance(0.7),
    SyndicateTo: random.some(['Homes.com', 'ListHub', 'Realtor.com', 'Zillow/Trulia'], random.integer(2, 4)),
    OriginalEntryTimestamp: timestampText(entered),
    OriginatingSystemID: system.id,
    OriginatingSystemName: system.name,
    OriginatingSystemOfficeKey: key(),
  });
}
