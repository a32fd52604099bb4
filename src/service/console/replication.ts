/**
 * Replication as the console shows it: of a replica what its copies do, and of any store which keys walk through it. It must
 * not know how a copy is made: what it reports and does comes from the command that serves the store.
 */
import { platError } from '../../errors/index.ts';
import { type Exchange, json, type Reply } from '../exchange.ts';
import { objectIn, textIn } from './given.ts';
import type { Walks } from './walks.ts';

/** What is told of replication at a moment. @param now milliseconds since 1970 */
export async function replicationAt(
  { walks, replica }: { readonly walks: Walks; readonly replica?: ReplicaDesk | undefined },
  now: number,
): Promise<object> {
  return { at: now, sources: [], ...(await replica?.report(now)), walks: walks.all(now) };
}

/** Members that change with time alone. */
const MOVING = new Set(['at', 'lag']);

/** The same without what changes with time alone, to find out whether anything happened. */
export const lastingOf = (told: object): string =>
  JSON.stringify(told, (name, value: unknown) => (MOVING.has(name) ? undefined : value));

/** Which part of the quarantine is asked for; without a source of all. */
interface QuarantineWish {
  readonly source?: string;
  readonly skip: number;
  readonly limit: number;
}

/** Entries that are tried again: all of a source, or one. */
interface RetryWish {
  readonly source: string;
  readonly only?: { readonly resource: string; readonly key: string };
}

/** What the command that serves a replica reports of it and does with it. */
export interface ReplicaDesk {
  /** @param now milliseconds since 1970 */
  report(now: number): Promise<object>;
  quarantine(wish: QuarantineWish): Promise<object>;
  retry(wish: RetryWish): Promise<object>;
}

/** Entries of a page of the quarantine, unless asked otherwise, and at most: payloads may be large. */
const PAGE = 50;
const MOST = 500;
const LONGEST_BODY = 64 * 1024;

/** What the address of the quarantine takes, for people. */
export const QUARANTINE_OPTIONS = {
  source: 'The name of a source; absent: all.',
  skip: 'How many entries are left out.',
  limit: `How many entries are given, at most ${MOST}; ${PAGE} unless it is said.`,
} as const;

/** A part of the quarantine. @throws PlatError `requestMalformed` */
export async function quarantine(desk: ReplicaDesk | undefined, { query }: Exchange): Promise<Reply> {
  const asked = new URLSearchParams(query);
  const source = asked.get('source') ?? '';
  const skip = countIn(asked, 'skip', 0);
  const limit = Math.min(MOST, countIn(asked, 'limit', PAGE));
  const wish = { skip, limit, ...(source === '' ? {} : { source }) };
  return json(desk === undefined ? { entries: [], total: 0 } : await desk.quarantine(wish));
}

/** What became of a retry. @throws PlatError `requestMalformed`, or as of the retry */
export async function retry(desk: ReplicaDesk | undefined, exchange: Exchange): Promise<Reply> {
  const given = objectIn(await exchange.body(LONGEST_BODY));
  const source = textIn(given, 'source');
  if ((given.resource === undefined) !== (given.key === undefined)) {
    throw platError('requestMalformed', { reason: 'resource and key go together' });
  }
  const only =
    given.key === undefined
      ? {}
      : { only: { resource: textIn(given, 'resource'), key: textIn(given, 'key') } };
  const retried = { stored: 0, wanted: 0, gone: 0, still: [] };
  return json(desk === undefined ? retried : await desk.retry({ source, ...only }));
}

function countIn(asked: URLSearchParams, name: string, usual: number): number {
  const text = asked.get(name) ?? '';
  if (text === '') return usual;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw platError('requestMalformed', { reason: `${name} is no whole number` });
}
