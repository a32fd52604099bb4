import { plainName } from './contacts.ts';
import { type MarketContext, type OriginatingSystem, SYSTEMS } from './context.ts';
import { TOWNS } from './data/places.ts';
import type { FieldValues } from './values.ts';

/** The OUID records of the originating systems. */
export function makeOrganizations(market: MarketContext): readonly FieldValues[] {
  return SYSTEMS.map((system, index) => makeOrganization(market, system, index));
}

function makeOrganization(market: MarketContext, system: OriginatingSystem, index: number): FieldValues {
  const town = TOWNS[index]?.name ?? '';
  return {
    OrganizationUniqueIdKey: system.id,
    OrganizationUniqueId: system.id,
    OrganizationName: system.name,
    OrganizationType: 'MLS',
    OrganizationStatus: true,
    OrganizationMemberCount: market.members,
    OrganizationAOR: system.association,
    OrganizationAddress1: `${100 + index * 20} Union Street`,
    OrganizationCity: town,
    OrganizationStateOrProvince: 'MI',
    OrganizationPostalCode: TOWNS[index]?.neighborhoods[0]?.postalCode ?? '',
    OrganizationCountyOrParish: TOWNS[index]?.county ?? '',
    OrganizationCountry: 'US',
    OrganizationContactFullName: index === 0 ? 'Miriam Lindqvist' : 'Andre Holloway',
    OrganizationContactJobTitle: 'Data Services Manager',
    OrganizationContactEmail: `data@${plainName(system.name)}.example`,
    OrganizationContactPhone: `231-555-019${index}`,
  };
}
