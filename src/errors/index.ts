export type { ErrorCode, ErrorFacts } from './catalogue.ts';
export { type ErrorDetail, type ErrorExtras, type FilterFault, PlatError, platError } from './plat-error.ts';
