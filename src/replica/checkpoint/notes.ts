/**
 * The notes that a store keeps on a source, by name: the type of each note, and its validation. A note in another
 * format, written by a person or by disk damage, is reported by name. Members that a later version adds are permitted.
 * It knows nothing of when notes change.
 */
import { platError } from '../../errors/index.ts';
import { UnreadableNote } from '../../records/damage.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import type { LoadState } from '../machine/load.ts';
import type { SweepState } from '../machine/sweep.ts';
import { type Capabilities, WAYS, type WalkedLinks, type Way } from '../source/source.ts';
import type { WorkLog } from './work-log.ts';

/** Moments are milliseconds since 1970 on the consumer's clock. */
export interface Notes {
  readonly [load: `load ${string}`]: LoadState;
  readonly [sweep: `sweep ${string}`]: SweepState;
  /** The newest records of a resource as the source returned them, the newest first. */
  readonly [witnesses: `witnesses ${string}`]: readonly Witness[];
  readonly schedule: Schedule;
  /** The identity of the source: interface, host and path. */
  readonly identity: string;
  readonly capabilities: Capabilities;
  /** Digests of what the source showed: its fields and record visibility, and its complete metadata. */
  readonly fingerprint: string;
  readonly revision: string;
  /** Of a plat source: changes if it went back in time. */
  readonly epoch: string;
  /** When a source without epochs was last found to have been restored to an earlier state. */
  readonly wentBack: number;
  readonly masks: Masks;
  /** `files` once the files of all listings are pending. */
  readonly media: 'records' | 'files';
  /** Collections that are read again because something else wrote into the copy: until then, no stored hash counts. */
  readonly doubted: readonly string[];
  /** Fields that the source has and the replica omits, `Resource.Field`. */
  readonly ignored: readonly string[];
  readonly troubles: Troubles;
  /** The work on a collection in the last day. */
  readonly [log: `log ${string}`]: WorkLog;
  /** Problems of the last day, whether resolved or not. */
  readonly lately: readonly TroubleEntry[];
  /** The current method by which a watch learns of changes. */
  readonly following: Following;
  /** Up to where the changes that the source reported are in the copy. */
  readonly chain: Chain;
  readonly foundation: Foundation;
  /** The start position of changes, for a source that returns it only at the end of a complete walk. */
  readonly walked: WalkedLinks;
}

/** How a watch learns of changes. Moments are milliseconds since 1970 on the consumer's clock. */
export interface Following {
  readonly way: Way | 'windows';
  /** Since when. */
  readonly since: number;
  /** Why no better way is in use. */
  readonly reason?: string;
}

/** Changes that the source reported without a gap. */
export interface Chain {
  /** Whose position it is. */
  readonly way: Way;
  /** The collections whose changes were requested from the source. */
  readonly resources: readonly string[];
  /** Of these, those whose changes it does not report; absent: none. Stores have it under this name. */
  readonly untold?: readonly string[];
  /** Everything up to here is in the copy, or pending. */
  readonly position: string;
  /** The sequence was broken: everything is to be read again. */
  readonly isBroken?: boolean;
  /**
   * When the copy was last known to be level with the source by the chain alone, in milliseconds since 1970 on the consumer's
   * clock.
   */
  readonly level?: number;
  /** Recent deletions, by resource. */
  readonly deletions?: Readonly<Record<string, Deletions>>;
}

/**
 * The foundation of a chain: everything was in the copy once. Changes from before the chain are, after a window that ends later and
 * a sweep that began later, or after a download into an empty copy.
 */
export interface Foundation {
  /** On the source's clock. */
  readonly since: string;
  /** Collections without stored records at that time, which therefore need neither a window nor a sweep. */
  readonly fresh: readonly string[];
}

/**
 * Deletions that the source reported within a while: like a purge, they may not exceed a share without a person's
 * consent.
 */
export interface Deletions {
  /** Milliseconds since 1970 on the consumer's clock. */
  readonly since: number;
  readonly rows: number;
  /** How many records were stored before. */
  readonly of: number;
  readonly isGuarded?: boolean;
}

/** When each step was last completed. */
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

/** Failures in a row of each step of a watch; `watch` is for those before any step. */
export type Troubles = Readonly<Record<string, Trouble>>;

interface Trouble {
  readonly since: number;
  readonly last: number;
  readonly attempts: number;
  readonly reason: string;
  /** Whether it is not expected to resolve by itself: a refused key, a redirect, an address that does not exist. */
  readonly lasting: boolean;
}

/** A kind of trouble, once or several times in a row. Moments are milliseconds since 1970. */
export interface TroubleEntry {
  readonly kind: 'retry' | 'failed' | 'recovered' | 'again' | 'refresh' | 'unsure' | 'doubt' | 'clock';
  readonly since: number;
  readonly last: number;
  readonly times: number;
  readonly reason: string;
  /** Of which step or collection; absent: of the source. */
  readonly of?: string;
}

/** The fingerprint of a copy whose source now has another address. */
export const ANOTHER_SOURCE = 'another source';
/** The fingerprint of a source that does not describe its fields, as it is stored. */
export const UNDESCRIBED = 'untold';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const flag: Check = (value) => typeof value === 'boolean';
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const among =
  (...values: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && values.includes(value);

const ownMember = (value: JsonObject, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

const record =
  (shape: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(shape).every(([name, check]) => check(ownMember(value, name)));

/** One of several shapes, by its `kind`. */
const kinds =
  (shapes: Readonly<Record<string, Check>>): Check =>
  (value) => {
    const kind = isObject(value) ? ownMember(value, 'kind') : undefined;
    return typeof kind === 'string' && Object.hasOwn(shapes, kind) && shapes[kind]?.(value) === true;
  };

const position = kinds({
  link: record({ url: text }),
  skip: record({ skip: number }),
  token: record({ token: text }),
});
const moment = optional(number);
const sweepOutcome = record({ begun: text, keys: number, deleted: number, unsure: flag });

/** By the full name of a note, or by its first word if a resource follows. */
const CHECKS = {
  load: kinds({
    new: record({}),
    initial: record({
      since: text,
      position: optional(position),
      rows: number,
      total: optional(number),
      round: number,
      previous: optional(record({ rows: number, end: text })),
    }),
    filling: record({ since: text }),
    current: record({ cursor: text, lastUpper: optional(text) }),
    updating: record({ cursor: text, upper: text, pass: number, position: optional(position), rows: number }),
  }),
  sweep: kinds({
    idle: record({ sweep: number, last: optional(sweepOutcome) }),
    walking: record({
      sweep: number,
      base: number,
      begun: text,
      position: optional(position),
      keys: number,
      digest: text,
      round: number,
    }),
    deleting: record({ sweep: number, base: number, begun: text, keys: number, deleted: number }),
    fetching: record({ sweep: number, begun: text, keys: number, deleted: number, unsure: flag }),
    guarded: record({ sweep: number, begun: text, rows: number, of: number }),
  }),
  witnesses: listOf(record({ key: text, at: number })),
  schedule: record({ update: moment, purge: moment, downloaded: moment, accounts: moment, media: moment }),
  identity: text,
  capabilities: record({
    interface: among('reso', 'native'),
    isPlat: flag,
    children: among('expanded', 'per-listing', 'none'),
    expansions: listOf(text),
    windowField: text,
    pagesByLink: flag,
    counts: flag,
    asksForMany: flag,
    resources: listOf(text),
    byKey: optional(among('path', 'filter', 'none')),
    childrenAt: optional(among('key', 'segment')),
    lacking: optional(listOf(text)),
  }),
  fingerprint: text,
  revision: text,
  epoch: text,
  wentBack: number,
  masks: record({ masked: listOf(text), open: listOf(text) }),
  media: among('records', 'files'),
  doubted: listOf(text),
  ignored: listOf(text),
  troubles: mapOf(record({ since: number, last: number, attempts: number, reason: text, lasting: flag })),
  log: listOf(
    record({
      work: among('download', 'window', 'purge'),
      outcome: among('open', 'done', 'lost', 'guarded', 'unsure'),
      began: number,
      ended: moment,
      rows: number,
      again: number,
      from: optional(text),
      to: optional(text),
      deleted: optional(number),
      removed: optional(listOf(record({ resource: text, key: text }))),
      times: optional(number),
      took: optional(number),
    }),
  ),
  following: record({ way: among(...WAYS, 'windows'), since: number, reason: optional(text) }),
  chain: record({
    way: among(...WAYS),
    resources: listOf(text),
    untold: optional(listOf(text)),
    position: text,
    isBroken: optional(flag),
    level: moment,
    deletions: optional(
      mapOf(record({ since: number, rows: number, of: number, isGuarded: optional(flag) })),
    ),
  }),
  foundation: record({ since: text, fresh: listOf(text) }),
  walked: mapOf(text),
  lately: listOf(
    record({ kind: text, since: number, last: number, times: number, reason: text, of: optional(text) }),
  ),
} as const satisfies Readonly<Record<FirstWord<keyof Notes>, Check>>;

type FirstWord<Name> = Name extends `${infer Word} ${string}` ? Word : Name;

const BY_WORD: ReadonlyMap<string, Check> = new Map(Object.entries(CHECKS));

/** The validation of a note; undefined for one that this version does not write, such as one of a newer version. */
const checkOf = (name: string): Check | undefined => BY_WORD.get(name.split(' ', 1)[0] ?? '');

const unreadable = (name: string, value: unknown): string => {
  const what = value instanceof UnreadableNote ? 'not JSON' : 'not what plat writes there';
  return `what it keeps of a source as "${name}" is ${what} ("plat replicate --refresh" recreates it)`;
};

/** The names of unreadable notes, with the reasons. */
export const unreadableNotes = (notes: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(notes).flatMap(([name, value]) =>
      checkOf(name)?.(value) === false ? [[name, unreadable(name, value)] as const] : [],
    ),
  );

/**
 * A note in the format of its name; undefined if there is none.
 * @throws PlatError `storeDamaged` if it has another format
 */
export function readNote<N extends keyof Notes>(
  notes: Readonly<Record<string, unknown>>,
  name: N,
): Notes[N] | undefined;
export function readNote(notes: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = notes[name];
  if (value === undefined || checkOf(name)?.(value) === true) return value;
  throw platError('storeDamaged', { store: 'The store', reason: unreadable(name, value) });
}

/** The same for a note that nothing depends on: also undefined if it has another format. */
export function readableNote<N extends keyof Notes>(
  notes: Readonly<Record<string, unknown>>,
  name: N,
): Notes[N] | undefined {
  return checkOf(name)?.(notes[name]) === true ? readNote(notes, name) : undefined;
}
