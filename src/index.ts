/** plat as a library: the store, the service, and the dictionary that both follow. */
export { type Dictionary, declare, standardDictionary } from './dictionary/index.ts';
export { PlatError } from './errors/index.ts';
export { SERVICE_DEFAULTS, type ServiceOptions } from './service/options.ts';
export { type ListenOptions, type Service, startService } from './service/service.ts';
export { parseRecord } from './store/record/parse-record.ts';
export { DEFAULT_SETTINGS, type StoreSettings } from './store/settings.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/store.ts';
export type { Store } from './store/store.ts';
