/**
 * The shapes of what is kept of a source, as checks: a store whose rows were damaged is told of by name, and not by
 * whatever trips over them. Members that a later version adds are no fault.
 */
import type { StateShapes } from '../checkpoint/notes.ts';

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
const among =
  (...values: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && values.includes(value);

const membersOf = (value: unknown): ReadonlyMap<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? new Map(Object.entries(value))
    : undefined;

function record(shape: Readonly<Record<string, Check>>): Check {
  return (value) => {
    const members = membersOf(value);
    return members !== undefined && Object.entries(shape).every(([name, check]) => check(members.get(name)));
  };
}

const mapOf =
  (check: Check): Check =>
  (value) =>
    [...(membersOf(value)?.values() ?? [undefined])].every(check);

/** One of several shapes, told apart by `kind`. */
function kinds(shapes: Readonly<Record<string, Check>>): Check {
  return (value) => {
    const kind = membersOf(value)?.get('kind');
    return typeof kind === 'string' && Object.hasOwn(shapes, kind) && shapes[kind]?.(value) === true;
  };
}

const position = kinds({
  link: record({ url: text }),
  skip: record({ skip: number }),
  token: record({ token: text }),
});

const load = kinds({
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
});

const outcome = record({ begun: text, keys: number, deleted: number, unsure: flag });

const sweep = kinds({
  idle: record({ sweep: number, last: optional(outcome) }),
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
});

const capabilities = record({
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
});

const moment = optional(number);

/** By the whole name of a state, or by its first word where a resource follows. */
const CHECKS = {
  load,
  sweep,
  witnesses: listOf(record({ key: text, at: number })),
  schedule: record({ update: moment, purge: moment, downloaded: moment, accounts: moment, media: moment }),
  identity: text,
  capabilities,
  fingerprint: text,
  revision: text,
  epoch: text,
  wentBack: number,
  masks: record({ masked: listOf(text), open: listOf(text) }),
  media: among('records', 'files'),
  doubted: listOf(text),
  ignored: listOf(text),
  troubles: mapOf(record({ since: number, last: number, attempts: number, reason: text, lasting: flag })),
} as const satisfies Readonly<Record<FirstWord<keyof StateShapes>, Check>>;

type FirstWord<Name> = Name extends `${infer Word} ${string}` ? Word : Name;

const checkOf = (name: string): Check | undefined => {
  const [word = ''] = name.split(' ');
  return new Map<string, Check>(Object.entries(CHECKS)).get(word);
};

/** Whether a value has the shape of the state with this name. */
export const isState = (name: string, value: unknown): boolean => checkOf(name)?.(value) ?? false;

/** Whether this plat keeps anything under this name; a newer one may keep more. */
export const isKnownState = (name: string): boolean => checkOf(name) !== undefined;
