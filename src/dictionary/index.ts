export { makeLookup, standardDictionary } from './load.ts';
export { findNavigation } from './navigation-names.ts';
export { nearestName } from './suggest.ts';
export type * from './types.ts';
