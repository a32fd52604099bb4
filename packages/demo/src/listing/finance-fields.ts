import { DAY } from '../dates.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Building } from './building.ts';
import type { Premises } from './premises.ts';
import type { Timeline } from './timeline.ts';

const cents = (amount: number): number => Math.round(amount * 100) / 100;
const yearOf = (time: number): number => new Date(time).getUTCFullYear();

/** Dues of an owners' association, which flats and town houses always have. */
function associationFields({ kind, neighborhood, lease }: Premises, random: Random): Fields {
  if (lease) return {};
  const shared = kind === 'flat' || kind === 'attached';
  const newer = kind === 'house' && neighborhood.setting === 'suburban' && neighborhood.built[1] > 2005;
  if (!shared && !(newer && random.chance(0.6))) return { AssociationYN: false };
  const yearly = !shared && random.chance(0.6);
  const fee = shared
    ? random.integer(32, 88) * 5
    : yearly
      ? random.integer(6, 34) * 25
      : random.integer(5, 22) * 5;
  return {
    AssociationYN: true,
    AssociationFee: fee,
    AssociationFeeFrequency: yearly ? 'Annually' : 'Monthly',
    AssociationName: `${neighborhood.name} ${shared ? 'Condominium' : 'Homeowners'} Association`,
    AssociationFeeIncludes: shared
      ? random.some(
          ['Insurance', 'Maintenance Grounds', 'Maintenance Structure', 'Snow Removal', 'Trash', 'Water'],
          4,
        )
      : ['Maintenance Grounds'],
    AssociationAmenities: random.some(
      ['Clubhouse', 'Fitness Center', 'Picnic Area', 'Playground', 'Pool', 'Trail(s)'],
      2,
    ),
  };
}

/** Taxes are those of the year before the listing, as an assessor set them. */
function taxFields(value: number, { contract }: Timeline, random: Random): Fields {
  const assessed = Math.round((value * random.between(0.36, 0.5)) / 100) * 100;
  return {
    TaxYear: yearOf(contract) - 1,
    TaxAssessedValue: assessed,
    TaxAnnualAmount: cents(assessed * random.between(0.034, 0.046)),
  };
}

function incomeFields(building: Building, rent: number, random: Random): Fields {
  const gross = rent * 12;
  const operating = Math.round(gross * random.between(0.28, 0.4));
  return {
    GrossIncome: gross,
    GrossScheduledIncome: gross,
    OperatingExpense: operating,
    NetOperatingIncome: gross - operating,
    InsuranceExpense: Math.round(building.units * random.between(520, 900)),
    TenantPays: random.some(['Cable TV', 'Electricity', 'Gas', 'Trash Collection', 'Water'], 3),
    OwnerPays: random.some(['Insurance', 'Snow Removal', 'Taxes', 'Trash Collection'], 2),
    NumberOfSeparateElectricMeters: building.units,
    NumberOfSeparateGasMeters: building.units,
    FinancialDataSource: ['Owner'],
  };
}

function leaseFields({ subType }: Premises, contract: number, random: Random): Fields {
  return {
    LeaseTerm: random.pick(['12 Months', '12 Months', '6 Months', 'Month To Month']),
    RentIncludes: random.some(['Gas', 'Sewer', 'Trash Collection', 'Water'], 2),
    PetsAllowed: random.pick([['Cats OK'], ['Cats OK', 'Dogs OK'], ['No'], ['Call']]),
    Furnished: random.pick(['Unfurnished', 'Unfurnished', 'Furnished', 'Partially']),
    AvailabilityDate: new Date(contract + random.integer(7, 45) * DAY).toISOString().slice(0, 10),
    TenantPays: subType === 'Apartment' ? ['Electricity', 'Cable TV'] : ['All Utilities'],
  };
}

const TERMS = ['Cash', 'Conventional', 'FHA', 'VA Loan', 'USDA Loan', 'Contract'];

/** Taxes, dues, rents and terms. `rent` is the rent of all units in a month. */
export function financeFields(
  premises: Premises,
  timeline: Timeline,
  value: number,
  rent: number,
  random: Random,
): Fields {
  const { building, kind, lease, subType } = premises;
  return {
    ...associationFields(premises, random),
    ...(lease ? leaseFields(premises, timeline.contract, random) : taxFields(value, timeline, random)),
    ...(kind === 'income' && building !== undefined ? incomeFields(building, rent, random) : {}),
    ListingTerms: lease
      ? undefined
      : random.some(
          subType === 'Warehouse' ? ['Cash', 'Conventional', '1031 Exchange'] : TERMS,
          random.integer(2, 4),
        ),
    SpecialListingConditions: [
      random.weighted([
        ['Standard', 92],
        ['Real Estate Owned', 3],
        ['Probate Listing', 2],
        ['Trust', 3],
      ]),
    ],
    Possession: lease
      ? undefined
      : [random.pick(['Close Of Escrow', 'Close Plus 1 Day', 'Close Plus 30 Days', 'Negotiable'])],
    HomeWarrantyYN: lease || building === undefined ? undefined : random.chance(0.2),
    Disclosures:
      building === undefined
        ? ['Seller Disclosure']
        : ['Seller Disclosure', ...(building.yearBuilt < 1978 ? ['Lead Paint Disclosure'] : [])],
    ...(timeline.close === undefined || lease ? {} : saleFields(random)),
  };
}

function saleFields(random: Random): Fields {
  const conceded = random.chance(0.24);
  return {
    BuyerFinancing: [
      random.weighted([
        ['Conventional', 58],
        ['Cash', 22],
        ['FHA', 12],
        ['VA', 6],
        ['USDA', 2],
      ]),
    ],
    Concessions: conceded ? 'Yes' : 'No',
    ConcessionsAmount: conceded ? random.integer(2, 18) * 500 : undefined,
  };
}
