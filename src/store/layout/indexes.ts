/**
 * What is searched by, beside the key: by resource, lists of fields. An index exists as soon as its fields are
 * in use. Equality comes first, so that an order by key behind it needs no sort.
 */
const SEARCHED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Property: [
    ['ModificationTimestamp'],
    ['ListingId'],
    ['City', 'ListPrice'],
    ['PostalCode'],
    ['ListPrice'],
    ['CloseDate'],
    ['ListAgentKey'],
    ['ListOfficeKey'],
    ['BuyerAgentKey'],
    ['Latitude', 'Longitude'],
  ],
  Member: [['ModificationTimestamp'], ['MemberMlsId'], ['MemberLastName'], ['OfficeKey']],
  Office: [['ModificationTimestamp'], ['OfficeMlsId'], ['OfficeName']],
  OpenHouse: [['ModificationTimestamp'], ['OpenHouseDate']],
  // Rooms and units are read with their listings, never by themselves in time.
  PropertyRooms: [],
  PropertyUnitTypes: [],
  Lookup: [['LookupName']],
};

/** Every other resource is replicated by its stamp, too. */
const BY_STAMP: readonly (readonly string[])[] = [['ModificationTimestamp']];

export const searchedBy = (resource: string): readonly (readonly string[])[] =>
  SEARCHED[resource] ?? BY_STAMP;
