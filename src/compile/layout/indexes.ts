import { REPLICA_STAMP } from '../../dictionary/index.ts';

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

/** In a replica its own stamp serves those who replicate from it, as the source's does in an authority. */
export const searchedBy = (resource: string): readonly (readonly string[])[] =>
  (SEARCHED[resource] ?? BY_STAMP).flatMap((fields) =>
    fields[0] === 'ModificationTimestamp' ? [fields, [REPLICA_STAMP]] : [fields],
  );
