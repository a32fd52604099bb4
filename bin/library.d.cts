/** The types of library.cjs: those of the library, for programs of both module systems. */
import type * as library from '../dist/index.js' with { 'resolution-mode': 'import' };

export type * from '../dist/index.js' with { 'resolution-mode': 'import' };
export type PlatError = library.PlatError;

export declare const DEFAULT_SETTINGS: typeof library.DEFAULT_SETTINGS;
export declare const PlatError: typeof library.PlatError;
export declare const SERVICE_DEFAULTS: typeof library.SERVICE_DEFAULTS;
export declare const clientCredentials: typeof library.clientCredentials;
export declare const declare: typeof library.declare;
export declare const openStore: typeof library.openStore;
export declare const parseRecord: typeof library.parseRecord;
export declare const replicate: typeof library.replicate;
export declare const sourceStatus: typeof library.sourceStatus;
export declare const standardDictionary: typeof library.standardDictionary;
export declare const startService: typeof library.startService;
export declare const systemClock: typeof library.systemClock;
export declare const tokenFile: typeof library.tokenFile;
export declare const verifyReplica: typeof library.verifyReplica;
