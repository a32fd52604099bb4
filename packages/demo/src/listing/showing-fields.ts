import { drawPhone } from '../contacts.ts';
import { FIRST_NAMES, LAST_NAMES } from '../data/people.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Premises } from './premises.ts';

const INSTRUCTIONS = [
  'Use the showing service. Confirmed showings only.',
  'Call the listing agent one hour ahead. Remove shoes, please.',
  'Vacant, go and show. Turn off the lights and lock the side door.',
  'Dog in the crate in the laundry. Two hours of notice, please.',
  'Tenant occupied: 24 hours of notice, no showings after seven in the evening.',
  'Key is in the lockbox. Do not let the cat out.',
];

const PRIVATE_REMARKS = [
  'Seller asks for 30 days after closing. Attach the disclosures to every offer.',
  'Offers are reviewed as they come. Earnest money of one per cent is held by the listing office.',
  'Survey and septic report are in the documents. Measure the rooms yourself.',
  'Pre-approval with the offer, please. Seller prefers a local lender.',
  'The garage freezer and the porch swing do not stay.',
  'Estate sale: allow three business days for an answer to an offer.',
  'Buyer to verify taxes, schools and flood zone. Roof was replaced before this owner.',
];

/** What only members of the market may know: how to get in, who owns it, what is paid. */
export function showingFields({ building, lease, kind }: Premises, random: Random): Fields {
  const occupant = random.weighted([
    ['Owner', 60],
    ['Vacant', 26],
    ['Tenant', lease || kind === 'income' ? 60 : 14],
  ]);
  const owner = `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
  const locked = building !== undefined && random.chance(0.85);
  const supra = random.chance(0.5);
  return {
    OwnerName: owner,
    OccupantType: building === undefined ? 'Vacant' : occupant,
    OccupantName:
      occupant === 'Tenant' ? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}` : undefined,
    ShowingInstructions: random.pick(INSTRUCTIONS),
    ShowingRequirements: random.some(
      ['24 Hour Notice', 'Appointment Only', 'Call Listing Agent', 'Lockbox', 'Showing Service'],
      2,
    ),
    ShowingContactType: [occupant === 'Owner' && random.chance(0.4) ? 'Owner' : 'Agent'],
    ShowingContactName: occupant === 'Owner' ? owner : undefined,
    ShowingContactPhone: drawPhone(random),
    LockBoxType: [locked ? (supra ? 'Supra' : 'Combo') : 'None'],
    LockBoxLocation: locked
      ? random.pick(['Front door', 'Side door', 'Gas meter', 'Back deck rail'])
      : undefined,
    LockBoxSerialNumber: locked && supra ? random.integer(31_000_000, 33_999_999).toString() : undefined,
    AccessCode: locked && !supra ? random.integer(1000, 9999).toString() : undefined,
    SignOnPropertyYN: random.chance(0.8),
    PrivateRemarks: random.pick(PRIVATE_REMARKS),
    BuyerBrokerageCompensation: random.pick(['2.5', '2', '3', '2.25', '0']),
    BuyerBrokerageCompensationType: '%',
    ListingAgreement: lease ? 'Exclusive Right To Lease' : 'Exclusive Right To Sell',
    ListingService: random.chance(0.93) ? 'Full Service' : 'Limited Service',
    SyndicateTo: random.some(['Homes.com', 'ListHub', 'Realtor.com', 'Zillow/Trulia'], random.integer(2, 4)),
  };
}

/** What the seller allows on the internet. */
export function displayFields(random: Random): Fields {
  return {
    InternetEntireListingDisplayYN: !random.chance(0.02),
    InternetAddressDisplayYN: !random.chance(0.05),
    InternetAutomatedValuationDisplayYN: !random.chance(0.06),
    InternetConsumerCommentYN: !random.chance(0.1),
  };
}
