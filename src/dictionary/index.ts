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
} from './declare.ts';
export type { ResourceDeclaration } from './declare-resources.ts';
export * from './listing-parts.ts';
export { makeLookup, standardDictionary } from './load.ts';
export { identifierOf, memberName, spellingsOf, textsOfIdentifier } from './lookups.ts';
export { FIRST_LINE, NATIVE_ALIASES } from './native-names.ts';
export {
  CUSTOM_FIELDS,
  customFieldsOf,
  findNavigation,
  leadsToCustomFields,
} from './navigation-names.ts';
export { REPLICA_STAMP, SOURCE_STAMP, withReplicaStamp } from './replica-stamp.ts';
export { nearestName, nearestOfEither } from './suggest.ts';
export type * from './types.ts';
