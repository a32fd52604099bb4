export {
  canonicalDate,
  canonicalTimestamp,
  dayFrom,
  fractionText,
  microsecondsOf,
  timestampFrom,
  timestampFromMicroseconds,
} from './canonical-time.ts';
export { MEDIA_KINDS, type MediaKind } from './data/listing-parts.ts';
export {
  API_NAME,
  type CustomFieldDeclaration,
  type Declarations,
  declare,
  type LookupDeclaration,
  REPLICA_TIMESTAMP,
  type ResourceDeclaration,
  SOURCE_TIMESTAMP,
  withReplicaTimestamp,
} from './declare.ts';
export { EVENT, isFilledByStore } from './entity-event.ts';
export * from './listing-parts.ts';
export { makeLookup, standardDictionary } from './load.ts';
export { identifierOf, memberName, spellingsOf, textsOfIdentifier } from './lookups.ts';
export {
  CUSTOM_FIELDS,
  customFieldsNavigation,
  FIRST_LINE,
  findNavigation,
  keyField,
  leadsToCustomFields,
  NATIVE_ALIASES,
} from './names.ts';
export { nearestName, nearestOfEither } from './suggest.ts';
export type * from './types.ts';
