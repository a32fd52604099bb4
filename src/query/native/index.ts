/** The native query language: text of the `_`-parameters → query tree. See docs/native-filter.md. */
export { bindFilter } from './bind/filter.ts';
export { customName, type NativeName, type NativeNames, resourceNames } from './bind/names.ts';
export { bindOrder } from './order.ts';
export { type NativeParameters, PARAMETERS, type ParameterName, parseParameters } from './parameters.ts';
export {
  bindParameters,
  type NativeBounds,
  type NativeRequest,
  type Position,
} from './request.ts';
export {
  bindSelection,
  LISTING_EXPANSIONS,
  type NativeExpansion,
  type NativeSelection,
  type SelectedMembers,
} from './selection.ts';
