/**
 * What is searched by, beside the key: by resource, lists of fields. An index exists as soon as its fields are
 * in use. Equality comes first, so that an order by key behind it needs no sort.
 */
export const SEARCHED: Readonly<Record<string, readonly (readonly string[])[]>> = {
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
  Media: [['ModificationTimestamp'], ['OriginatingSystemResourceRecordKey']],
  PropertyRooms: [['ModificationTimestamp']],
  PropertyUnitTypes: [['ModificationTimestamp']],
  OpenHouse: [['ModificationTimestamp'], ['OpenHouseDate']],
  Lookup: [['LookupName']],
};

/** Every other resource is replicated by its stamp, too. */
export const SEARCHED_BY_DEFAULT: readonly (readonly string[])[] = [['ModificationTimestamp']];
