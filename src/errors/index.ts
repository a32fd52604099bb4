export type { ErrorCode, ErrorFacts } from './catalogue.ts';
export { type ErrorDetail, type ErrorExtras, PlatError, platError } from './plat-error.ts';
