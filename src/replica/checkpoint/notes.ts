/** The notes that a store keeps on a source, by name, and their shapes. A note in another format is reported by name. */
import { platError } from '../../errors/index.ts';
import { UnreadableState } from '../../records/damage.ts';
import { LOAD_STATE, SWEEP_STATE } from '../machine/states.ts';
import {
  flag,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  type Shaped,
  text,
} from '../shape.ts';
import { CAPABILITIES, CHANGE_METHODS } from '../source/source.ts';
import { WORK_LOG } from './work-log.ts';

/** The method by which a watch learns of changes. Times are milliseconds since 1970 on the consumer's clock. */
const FOLLOWING = object({
  way: oneOf(...CHANGE_METHODS, 'windows'),
  /** When the watch began to use the method. */
  since: number,
  /** Why no better method is in use. */
  reason: optional(text),
});
export type Following = Shaped<typeof FOLLOWING>;

/** The deletions that the source reported within a period. As in a purge, a large share of them needs the operator's consent. */
const DELETIONS = object({
  /** Milliseconds since 1970 on the consumer's clock. */
  since: number,
  rows: number,
  /** How many records were stored before. */
  of: number,
  isGuarded: optional(flag),
});
export type Deletions = Shaped<typeof DELETIONS>;

/** Changes that the source reported without a gap. */
const CHAIN = object({
  /** The method that the position belongs to. */
  way: oneOf(...CHANGE_METHODS),
  /** The collections whose changes were requested from the source. */
  resources: listOf(text),
  /**
   * Those of `resources` whose changes the source does not report; absent if it reports all. The name of the member is part of the
   * stored format.
   */
  untold: optional(listOf(text)),
  /** All changes up to this position are in the copy, or pending. */
  position: text,
  /** The sequence was interrupted, so everything has to be read again. */
  isBroken: optional(flag),
  /**
   * When the copy was last known to be up to date with the source by reported changes alone, in milliseconds since 1970 on the
   * consumer's clock.
   */
  level: optional(number),
  /** Recent deletions, by resource. */
  deletions: optional(mapOf(DELETIONS)),
});
export type Chain = Shaped<typeof CHAIN>;

/**
 * The foundation of a chain: the copy must have been complete once. It contains all changes from before `since` as soon as a window
 * has ended after `since` and a sweep has begun after `since`. A download into an empty copy needs neither.
 */
const FOUNDATION = object({
  /** The time, on the source's clock, from which on the reported changes are complete. */
  since: text,
  /** Collections that had no stored records at that time, and therefore need neither a window nor a sweep. */
  fresh: listOf(text),
});
export type Foundation = Shaped<typeof FOUNDATION>;

/** When each step was last completed. */
const SCHEDULE = object({
  update: optional(number),
  purge: optional(number),
  /** The end of the last download. */
  downloaded: optional(number),
  accounts: optional(number),
  media: optional(number),
});
export type Schedule = Shaped<typeof SCHEDULE>;

/** A record with its timestamp, in milliseconds since 1970. */
const WITNESS = object({ key: text, at: number });
export type Witness = Shaped<typeof WITNESS>;

/** Fields that the source masked, and those that it showed; a field may be in both, by record. */
const MASKS = object({ masked: listOf(text), open: listOf(text) });
export type Masks = Shaped<typeof MASKS>;

/** Failures in a row of each step of a watch; `watch` is for those before any step. */
const TROUBLES = mapOf(
  object({
    since: number,
    last: number,
    attempts: number,
    reason: text,
    /**
     * Whether the problem is not expected to resolve by itself, such as a refused key, a redirect, or an address that does not
     * exist.
     */
    lasting: flag,
  }),
);
export type Troubles = Shaped<typeof TROUBLES>;

/** One kind of problem, which occurred once or several times in a row. Times are milliseconds since 1970. */
const TROUBLE_ENTRY = object({
  kind: oneOf('retry', 'failed', 'recovered', 'again', 'refresh', 'unsure', 'doubt', 'clock'),
  since: number,
  last: number,
  times: number,
  reason: text,
  /** The step or collection that it concerns; absent if it concerns the source. */
  of: optional(text),
});
export type TroubleEntry = Shaped<typeof TROUBLE_ENTRY>;

/** Stored as the fingerprint of a copy whose source has moved to another address. */
export const ANOTHER_SOURCE = 'another source';
/** Stored as the fingerprint of a source that does not describe its fields. */
export const UNDESCRIBED = 'untold';

/** Notes on a collection or resource. The name of the note is followed by the name of the collection or resource. */
const OF_COLLECTIONS = {
  load: LOAD_STATE,
  sweep: SWEEP_STATE,
  /** The newest records of a resource as the source returned them, newest first. */
  witnesses: listOf(WITNESS),
  /** The work on a collection in the last day. */
  log: WORK_LOG,
};

/** Notes on the source. Times are milliseconds since 1970 on the consumer's clock. */
const OF_SOURCE = {
  schedule: SCHEDULE,
  /** The identity of the source: interface, host and path. */
  identity: text,
  capabilities: CAPABILITIES,
  /**
   * Digests of what the source last showed. `fingerprint` covers its fields and the visibility of records, `revision` its complete
   * metadata.
   */
  fingerprint: text,
  revision: text,
  /** Of a plat source: changes if its store was restored to an earlier state. */
  epoch: text,
  /** When a source without epochs was last found to have been restored to an earlier state. */
  wentBack: number,
  /** When the source last rejected the windows of a resource, by resource. */
  unwindowed: mapOf(number),
  masks: MASKS,
  /** `files` once the files of all listings have been made pending. */
  media: oneOf('records', 'files'),
  /**
   * Collections that are being read again because something else wrote into the copy. Until this is complete, their stored hashes
   * are not trusted.
   */
  doubted: listOf(text),
  /** Fields that the source has and the replica omits, `Resource.Field`. */
  ignored: listOf(text),
  troubles: TROUBLES,
  /** Problems of the last day, whether resolved or not. */
  lately: listOf(TROUBLE_ENTRY),
  /** The current method by which a watch learns of changes. */
  following: FOLLOWING,
  /** How far the changes that the source reported have been applied to the copy. */
  chain: CHAIN,
  foundation: FOUNDATION,
  /** The start position of changes, for a source that returns it only at the end of a complete walk. */
  walked: mapOf(text),
};

export type Notes = { readonly [N in keyof typeof OF_SOURCE]: Shaped<(typeof OF_SOURCE)[N]> } & {
  readonly [N in keyof typeof OF_COLLECTIONS as `${N} ${string}`]: Shaped<(typeof OF_COLLECTIONS)[N]>;
};

const BY_WORD = new Map<string, Shape<unknown>>(Object.entries({ ...OF_COLLECTIONS, ...OF_SOURCE }));

/** The shape of a note, by its first word; undefined for one that this version does not write, such as one of a newer version. */
const shapeOf = (name: string): Shape<unknown> | undefined => BY_WORD.get(name.split(' ', 1)[0] ?? '');

const unreadable = (name: string, value: unknown): string => {
  const what = value instanceof UnreadableState ? 'not JSON' : 'not in the format that plat writes';
  return `the note "${name}" of the checkpoint is ${what} ("plat replicate --refresh" recreates it)`;
};

/** The names of the unreadable notes, each with the reason. */
export const unreadableNotes = (notes: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(notes).flatMap(([name, value]) =>
      shapeOf(name)?.(value) === false ? [[name, unreadable(name, value)] as const] : [],
    ),
  );

/**
 * A note, validated by the shape of its name; undefined if there is none.
 * @throws PlatError `storeDamaged` if it has another format
 */
export function readNote<N extends keyof Notes>(
  notes: Readonly<Record<string, unknown>>,
  name: N,
): Notes[N] | undefined;
export function readNote(notes: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = notes[name];
  if (value === undefined || shapeOf(name)?.(value) === true) return value;
  throw platError('storeDamaged', { store: 'The store', reason: unreadable(name, value) });
}

/** Like `readNote`, for a note that nothing depends on: undefined also if the note has another format. */
export function readNoteIfValid<N extends keyof Notes>(
  notes: Readonly<Record<string, unknown>>,
  name: N,
): Notes[N] | undefined {
  return shapeOf(name)?.(notes[name]) === true ? readNote(notes, name) : undefined;
}
