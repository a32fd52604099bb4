/// <reference types="node" preserve="true" />
/** plat as a library: the store, the service, the consumer, and the dictionary that all follow. */

export { type Dictionary, declare, standardDictionary } from './dictionary/index.ts';
export { PlatError } from './errors/index.ts';
export { type OpenStoreOptions, openStore } from './open-store.ts';
export { parseRecord } from './records/parse-record.ts';
export { DEFAULT_SETTINGS, type StoreSettings } from './records/settings.ts';
export type { ReplicaEvent } from './replica/events.ts';
export { type ClientCredentials, clientCredentials } from './replica/http/client-credentials.ts';
export { type TokenSource, tokenFile } from './replica/http/token-source.ts';
export type { ReplicateOptions } from './replica/run/options.ts';
export { type ReplicateResult, replicate } from './replica/run/replicate.ts';
export { type SourceStatus, sourceStatus } from './replica/status.ts';
export type { Difference, Verified } from './replica/verify/results.ts';
export { verifyReplica } from './replica/verify/verify.ts';
export type { ListenOptions } from './service/http/listen.ts';
export { SERVICE_DEFAULTS, type ServiceOptions } from './service/options.ts';
export { type Service, startService } from './service/service.ts';
export { type Clock, systemClock } from './shared/clock.ts';
export type { Change, ChangesOptions } from './store/changes/change-feed.ts';
export type { Store } from './store/store.ts';
