/** Groups of related fields of a listing. A field belongs to the first group whose pattern it matches. */

const GROUPS: readonly (readonly [title: string, pattern: RegExp])[] = [
  ['Record', /(?:Key|Timestamp)$|^OriginatingSystem|^SourceSystem/],
  ['Agents and offices', /^(?:Co)?(?:List|Buyer)(?:Agent|Office|Team|AOR)|^AttributionContact/],
  ['Showing', /^(?:Showing|LockBox|AccessCode|Occupant|OwnerName|SignOn)/],
  [
    'Location',
    /^(?:Street|Unparsed|UnitNumber|City|County|Postal|StateOr|Country|Continent|Latitude|Longitude|Directions?$|CrossStreet|Map|MLSArea|Subdivision|Parcel|Township|Tax(?:Legal|Block|Lot|Tract|Map)|Zoning|CarrierRoute|Elevation|DistanceTo|WalkScore|Community|PropertyTimeZone)/,
  ],
  ['Schools', /School/],
  [
    'Fees, taxes and income',
    /^(?:Association|Tax|Land|Gross|Net|Operating|Rent|Owner|Tenant|Insurance)|(?:Expense|Income)/,
  ],
  [
    'Terms and history',
    /Price|Date$|^(?:DaysOn|DaysIn|Cumulative|Standard|Mls|Major|Listing|Special|Internet|Syndicate|Concessions|Possession|Disclos|HomeWarranty|BuyerFin|BuyerBrok|Lease|Available|Current|Compensation|Inclusions|Exclusions|Contingency)/,
  ],
  [
    'Lot and outside',
    /^(?:Lot|View|Water|Pool|Spa|Fenc|Exterior|Patio|Horse|Irrigation|Pasture|Crops|Vegetation|Road|Frontage|Other(?:Structures|Parking)|Garage|Parking|Carport|Covered|Attached|Open(?:Parking))/,
  ],
  [
    'Building',
    /^(?:Year|Building|Architect|Construction|Roof|Foundation|Levels|Stories|Property|New|Common|Living|Above|Below|Basement|Number|Accessibility|Direction|Structure|Builder|Entry|Green)/,
  ],
  [
    'Inside',
    /^(?:Bed|Bath|Main|Room|Interior|Floor|Fireplace|Appliance|Laundry|Heating|Cooling|Furnished|Window|Door|Security|Pets)/,
  ],
  ['Utilities', /^(?:Utilit|Sewer|Electric|Gas|Power|Cable)/],
];

/** The title of a group of custom fields, from the prefix of their names: `LakeLiving_DockType`. */
const customGroup = (field: string): string =>
  field.slice(0, field.indexOf('_')).replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2');

const OTHERS = 'Other facts';
const ORDER = [
  'Inside',
  'Building',
  'Lot and outside',
  'Location',
  'Schools',
  'Utilities',
  'Fees, taxes and income',
  'Terms and history',
  'Showing',
  OTHERS,
];

const titleOf = (field: string): string =>
  field.includes('_')
    ? customGroup(field)
    : (GROUPS.find(([, pattern]) => pattern.test(field))?.[0] ?? OTHERS);

const LAST = ['Agents and offices', 'Record'];

const rankOf = (title: string): number => {
  if (LAST.includes(title)) return 1000 + LAST.indexOf(title);
  const at = ORDER.indexOf(title);
  return at < 0 ? 500 : at;
};

export type Fact = readonly [field: string, value: unknown];

/** The facts by group: the usual groups, the custom ones, and finally keys and timestamps. */
export function grouped(facts: readonly Fact[]): readonly (readonly [string, readonly Fact[]])[] {
  const groups = Map.groupBy(facts, ([field]) => titleOf(field));
  return [...groups].toSorted(
    ([left], [right]) => rankOf(left) - rankOf(right) || left.localeCompare(right, 'en-US'),
  );
}
