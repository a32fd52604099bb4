import { platError } from '../../errors/index.ts';
import { UnreadableNote } from '../../records/stored-json.ts';
import { isKnownState, isState } from '../copy/state-checks.ts';
import type { LoadState } from '../machine/load.ts';
import type { SweepState } from '../machine/sweep.ts';
import type { Capabilities } from '../source/source.ts';
import type { Troubles } from './troubles.ts';

/** What is kept of a source, by name. Moments are milliseconds since 1970 on the consumer's clock. */
export interface StateShapes {
  readonly [load: `load ${string}`]: LoadState;
  readonly [sweep: `sweep ${string}`]: SweepState;
  /** The newest records of a resource as the source showed them, the newest first. */
  readonly [witnesses: `witnesses ${string}`]: readonly Witness[];
  /** When each step was last done whole. */
  readonly schedule: Schedule;
  /** Which source this is: interface, host and path. */
  readonly identity: string;
  readonly capabilities: Capabilities;
  /** What the source showed, its fields and which records, and its metadata in every word. */
  readonly fingerprint: string;
  readonly revision: string;
  /** Of a plat: another one where it went back in time. */
  readonly epoch: string;
  /** When the records of a source that tells no epoch were last seen to have gone back in time. */
  readonly wentBack: number;
  readonly masks: Masks;
  /** `files` once the files of all listings are wanted. */
  readonly media: 'records' | 'files';
  /** Collections that are read again because somebody wrote into the copy: until then no stored hash is believed. */
  readonly doubted: readonly string[];
  /** Fields that the source has and the replica leaves out, `Resource.Field`. */
  readonly ignored: readonly string[];
  /** What a watch cannot do at present. */
  readonly troubles: Troubles;
}

export interface Schedule {
  readonly update?: number;
  readonly purge?: number;
  /** The end of the last download. */
  readonly downloaded?: number;
  readonly accounts?: number;
  readonly media?: number;
}

/** A record with its timestamp, in milliseconds since 1970. */
export interface Witness {
  readonly key: string;
  readonly at: number;
}

/** Fields that the source masked, and those that it showed; a field may be in both, by record. */
export interface Masks {
  readonly masked: readonly string[];
  readonly open: readonly string[];
}

/** The fingerprint of a copy whose source lies at another address now. */
export const ANOTHER_SOURCE = 'another source';
/** The fingerprint of a source that tells of no fields. */
export const UNTOLD = 'untold';

const wordsOfUnreadable = (name: string, value: unknown): string => {
  const what = value instanceof UnreadableNote ? 'no JSON' : 'not what plat writes there';
  return `what it keeps of a source as "${name}" is ${what} ("plat replicate --refresh" makes it anew)`;
};

/** The names of notes on a source that cannot be read, with why in words. */
export const unreadableNotes = (state: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(state).flatMap(([name, value]) =>
      isKnownState(name) && !isState(name, value) ? [[name, wordsOfUnreadable(name, value)] as const] : [],
    ),
  );

/**
 * A state in the shape of its name; undefined where none is kept.
 * @throws PlatError `storeDamaged` when what is kept has another shape
 */
export function readState<N extends keyof StateShapes>(
  state: Readonly<Record<string, unknown>>,
  name: N,
): StateShapes[N] | undefined;
export function readState(state: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = state[name];
  if (value === undefined || isState(name, value)) return value;
  throw platError('storeDamaged', { store: 'The store', reason: wordsOfUnreadable(name, value) });
}
