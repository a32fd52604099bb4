/**
 * Replication as the console shows it: for a replica, the work of its copies; for any store, the keys that walk through
 * it. It must not know how a copy is made: the command that serves the store provides its reports and actions.
 */
import { malformedError } from '../../errors/index.ts';
import type { RecordName } from '../../records/record-name.ts';
import { type Exchange, jsonReply, type Reply } from '../exchange.ts';
import { type BodyMembers, requireString } from './json-body.ts';
import type { Walks } from './walks.ts';

/** The current state of replication. @param now milliseconds since 1970 */
export async function replicationAt(
  { walks, replica }: { readonly walks: Walks; readonly replica?: ReplicaControls | undefined },
  now: number,
): Promise<object> {
  return { at: now, sources: [], ...(await replica?.report(now)), walks: walks.all(now) };
}

/** Members that change merely because time passes. */
const MOVING = new Set(['at', 'lag']);

/** A report without these members, to detect whether anything has happened. */
export const withoutTimeDependent = (report: object): string =>
  JSON.stringify(report, (name, value: unknown) => (MOVING.has(name) ? undefined : value));

/** The requested part of the quarantine: of one source, or of all sources. */
interface QuarantineQuery {
  readonly source?: string;
  readonly skip: number;
  readonly limit: number;
}

/** The entries to retry: all entries of a source, or a single one. */
interface RetryRequest {
  readonly source: string;
  readonly only?: RecordName;
}

/** The reports and actions of a replica, provided by the command that serves it. */
export interface ReplicaControls {
  /** @param now milliseconds since 1970 */
  report(now: number): Promise<object>;
  quarantine(query: QuarantineQuery): Promise<object>;
  retry(request: RetryRequest): Promise<object>;
}

/** The default and the maximum number of entries per page of the quarantine: payloads may be large. */
const PAGE = 50;
const MOST = 500;

/** Descriptions of the query parameters of the quarantine. */
export const QUARANTINE_OPTIONS = {
  source: 'The name of a source; the default is all sources.',
  skip: 'The number of entries to skip.',
  limit: `The maximum number of entries to return, at most ${MOST}; the default is ${PAGE}.`,
} as const;

/** A part of the quarantine. @throws PlatError `requestMalformed` */
export async function quarantine(desk: ReplicaControls | undefined, { query }: Exchange): Promise<Reply> {
  const asked = new URLSearchParams(query);
  const source = asked.get('source') || undefined;
  const skip = countIn(asked, 'skip', 0);
  const limit = Math.min(MOST, countIn(asked, 'limit', PAGE));
  return jsonReply((await desk?.quarantine({ source, skip, limit })) ?? { entries: [], total: 0 });
}

/** The result of a retry. @throws PlatError `requestMalformed`, or as in the retry */
export async function retry(desk: ReplicaControls | undefined, given: BodyMembers): Promise<Reply> {
  const source = requireString(given, 'source');
  if ((given.resource === undefined) !== (given.key === undefined)) {
    throw malformedError('resource and key must be given together');
  }
  const one = given.key !== undefined && {
    resource: requireString(given, 'resource'),
    key: requireString(given, 'key'),
  };
  const request = one ? { source, only: one } : { source };
  return jsonReply((await desk?.retry(request)) ?? { stored: 0, wanted: 0, gone: 0, still: [] });
}

function countIn(asked: URLSearchParams, name: string, usual: number): number {
  const text = asked.get(name) ?? '';
  if (text === '') return usual;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw malformedError(`${name} is not a whole number`);
}
