export { visibleCustomFields } from './bind/custom-fields.ts';
export {
  bindCollection,
  bindCount,
  bindCustom,
  bindField,
  bindSingle,
  OPTIONS_OF,
  parseFilter,
  requireNoOptions,
} from './bind/options.ts';
export {
  type KeyValue,
  type PathRoot,
  type PathStep,
  parseResourcePath,
  type ResourcePath,
} from './bind/resource-path.ts';
export type { SystemOption } from './syntax/option-name.ts';
export { parseQueryOptions, type RawOptions } from './syntax/query-string.ts';
