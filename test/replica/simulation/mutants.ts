import { type ParsedRecord, withMembers } from '../../../src/records/parsed-record.ts';
import type { Transport, TransportRequest } from '../../../src/replica/http/transport.ts';
import type { CheckpointChange, Checkpoints } from '../../../src/store/checkpoint/checkpoints.ts';
import { emptyTally, type WriteReport } from '../../../src/store/write/report.ts';
import type { Mutant } from './consumer.ts';
import { COLLECTION_NAMES } from './market.ts';
import { isLaterPage, walkOf } from './network.ts';
import type { Plan, WrongClock } from './plan.ts';
import { withoutRenewal } from './tokens.ts';

/** An error of a consumer, and the invariant that detects it. */
export interface Wrong {
  readonly name: string;
  readonly make: () => Mutant;
  /** The invariant that it breaks, or one of them. */
  readonly breaks: RegExp;
  /** The first history that is known to detect it; later ones are played if that one no longer does. Absent: 1. */
  readonly seed?: number;
  /** Properties of the histories in which the error matters. */
  readonly plan?: Partial<Plan>;
  /** Whether random histories hardly ever meet it; the one that does is then also played with a correct consumer. */
  readonly isRare?: boolean;
  /** Whether `npm test` leaves it to the full test run, since its detection takes seconds. */
  readonly isLong?: boolean;
}

/** An hour ahead of the source. */
const AHEAD = 3_600_000;

/** A follower whose commits of a chain's position are changed. */
const following = (change: (given: CheckpointChange) => CheckpointChange) => (): Mutant =>
  changed((given) => [given.state?.chain === undefined ? given : change(given)]);

const FOLLOWED: Partial<Plan> = { interface: 'reso', watches: 1, mortality: 0, faults: 0 };

export const WRONGS: readonly Wrong[] = [
  {
    name: 'a consumer that ignores epochs keeps records of a source that was restored from a backup',
    isLong: true,
    seed: 7,
    make: () => ({
      transport: withoutEpoch,
      ...changed((change) => [withoutWitnesses(change)]),
    }),
    breaks: /replica equals what the key may see/,
    plan: {
      ...{
        restored: { after: 3, changes: 12 },
        changes: 20,
        pace: 0.1,
        often: 'change',
        resources: ['Property'],
      },
      ...{ role: 'private', processes: 4, mortality: 0, faults: 0, steps: [], limits: {} },
    },
  },
  {
    name: 'a cursor that a wrong clock has set is kept until the source’s clock reaches it',
    isLong: true,
    seed: 2,
    make: () => {
      const newest = { date: Number.NEGATIVE_INFINITY };
      return {
        transport: (transport) => withNewestDate(newest, withoutEpoch(transport)),
        ...changed((change) => [withoutWitnesses(change)]),
      };
    },
    breaks: /cursor is never ahead|replica equals what the key may see/,
    plan: {
      ...{ wrongClock: wrongFor(2 * AHEAD), restored: undefined, steps: [], resources: ['Property'] },
      ...{ changes: 40, pace: 0.1, often: 'change', role: 'private' },
      ...{ processes: 6, watches: 0.3, mortality: 0, faults: 0, limits: {} },
    },
  },
  {
    name: 'windows without an overlap lose a record with a timestamp on the edge',
    seed: 14,
    make: () => ({ transport: (transport) => (request) => transport(withoutOverlap(request)) }),
    breaks: /cursor is never ahead/,
    plan: {
      ...{ interface: 'reso', wholeSeconds: true, role: 'private', resources: ['Property'] },
      ...{ changes: 300, pace: 0.05, often: 'insert', processes: 2, watches: 1 },
      ...{ mortality: 0, faults: 0, limits: {} },
    },
  },
  {
    name: 'the cursor is committed before the records',
    seed: 2,
    make: () => changed((change) => [{ ...accountOf(change), lease: change.lease }, withoutState(change)]),
    breaks: /cursor is never ahead/,
  },
  {
    name: 'the position of a walk is committed before the pages of its transaction',
    seed: 4,
    make: () => ({ checkpoints: withPositionsFirst }),
    breaks: /cursor is never ahead|replica equals what the key may see/,
    plan: { mortality: 1, standstills: 0, processes: 4, watches: 0, faults: 0, latency: 0, limits: {} },
  },
  {
    name: 'a sweep that was interrupted deletes records',
    seed: 6,
    make: () => ({
      checkpoints: (checkpoints) => ({
        ...checkpoints,
        state: async (source) => ended(await checkpoints.state(source)),
      }),
    }),
    breaks: /no key that the source shows is deleted|only a whole sweep deletes/,
    plan: { mortality: 1, standstills: 0, processes: 5, listings: 12, pageSize: 2, resources: ['Property'] },
  },
  {
    name: 'a walk that begins again uses the filter of the last one',
    isLong: true,
    seed: 4,
    make: () => {
      const last = new Map<string, string>();
      return { transport: (transport) => (request) => transport(withFilterOf(last, request)) };
    },
    breaks: /no filter is used twice|cursor is never ahead/,
  },
  {
    name: 'records that are stored during a sweep are not marked',
    isLong: true,
    seed: 20,
    make: () => changed((change) => [(change.records ?? []).length > 0 ? { ...change, seen: [] } : change]),
    breaks: /what came after a sweep began is not deleted|no key that the source shows is deleted/,
    plan: {
      ...{ resources: ['Property'], listings: 14, pageSize: 2, changes: 60, often: 'insert' },
      ...{ mortality: 1, standstills: 0, processes: 5, faults: 0, limits: {} },
    },
  },
  {
    name: 'a collection that was not requested counts as empty',
    seed: 2,
    make: () => changed((change) => [withRecords(change, withEveryCollection)]),
    breaks: /no child that the source shows is deleted|replica equals/,
    plan: { interface: 'native', customFields: false, often: 'field', processes: 4, mortality: 0 },
  },
  {
    name: 'a collection that is empty counts as not requested',
    seed: 11,
    make: () => changed((change) => [withRecords(change, withoutEmptyCollections)]),
    breaks: /replica equals/,
    plan: { changes: 60 },
  },
  {
    name: 'keys that the sweep does not find stored are not fetched',
    // The source does not report when its view changes.
    make: () => ({
      ...changed(({ want = [], ...change }) => [
        { ...change, want: want.filter(({ why }) => why !== 'record') },
      ]),
      transport: withoutView,
    }),
    breaks: /replica equals/,
    plan: {
      ...{ customFields: false, role: 'idx', often: 'rule', changes: 10, listings: 30, pace: 30 },
      ...{ processes: 1, watches: 0, mortality: 0, faults: 0, limits: {} },
    },
  },
  {
    name: 'a change of rights that was taken back is ignored',
    seed: 9,
    make: () => ({ transport: withoutView }),
    breaks: /replica equals/,
    isRare: true,
    plan: {
      ...{ customFields: false, role: 'idx', often: 'change', resources: ['Property'] },
      ...{ narrowed: { after: 2, changes: 8 }, changes: 16, listings: 90, pace: 1, pageSize: 1000 },
      ...{ processes: 1, watches: 1, sweeps: false, mortality: 0, faults: 0, limits: {} },
      ...{ wrongClock: undefined, restored: undefined, steps: [], ahead: 0, purgeShare: 1 },
      ...{ wholeSeconds: false, misnamed: false },
    },
  },
  {
    name: 'windows are bounded by a clock other than the source’s',
    seed: 2,
    make: () => ({ transport: withClockAhead }),
    breaks: /cursor is never ahead/,
    plan: { changes: 60 },
  },
  {
    name: 'Retry-After is ignored',
    seed: 6,
    make: () => ({ transport: withoutRetryAfter }),
    breaks: /Retry-After of a throttled token/,
    plan: { faults: 0.25 },
  },
  {
    name: 'the budget is forgotten',
    make: () => ({ options: { limits: {} } }),
    breaks: /no more requests than the budget/,
    plan: { limits: { requestsPerSecond: 1 } },
  },
  {
    name: 'a redirect is followed with the token',
    make: () => ({ transport: (transport) => (request) => followed(transport, request) }),
    breaks: /a token goes to its own host only/,
    plan: { faults: 0.25, trouble: 'elsewhere' },
  },
  {
    name: 'a token is never renewed',
    make: () => ({ options: { token: withoutRenewal() } }),
    breaks: /a consumer fails only where its source does|a cycle that nothing disturbs is done/,
    plan: { tokens: 90_000, mortality: 0, faults: 0 },
  },
  {
    name: 'a process that was suspended takes its lease back',
    isLong: true,
    seed: 12,
    make: () => ({ checkpoints: withLeaseTakenBack }),
    breaks: /lower bound of the next|cursor is never ahead|what did not change/,
    plan: { mortality: 1, standstills: 1, processes: 5, faults: 0 },
  },
  {
    name: 'a follower commits a position without the changes before it',
    make: following((given) => ({ ...given, records: [] })),
    breaks: /is level equals|cursor is never ahead/,
    plan: { ...FOLLOWED, reports: 'stream' },
  },
  {
    name: 'a follower ignores reported deletions',
    make: following((given) => ({ ...given, remove: [] })),
    breaks: /is level equals/,
    plan: { ...FOLLOWED, reports: 'stream', often: 'delete' },
  },
];

/** A source clock that is ahead by this much for half an hour; the store is restamped when it is right again. */
function wrongFor(by: number): WrongClock {
  const minute = 60_000;
  return { steps: [{ at: minute, by }], right: 30 * minute, isBelieved: true, mends: 'restamp' };
}

/** A consumer whose every commit is replaced by another one, or by several. */
function changed(change: (given: CheckpointChange) => readonly CheckpointChange[]): Mutant {
  return {
    checkpoints: (checkpoints) => ({
      ...checkpoints,
      async commit(source, given) {
        const [first, ...more] = change(given);
        let report = await checkpoints.commit(source, first ?? given);
        for (const each of more) report = await checkpoints.commit(source, each);
        return report;
      },
      commitTogether: oneByOne,
    }),
  };
}

/** No other write waits for a transaction of these consumers. */
const NEVER = new Promise<never>(() => undefined);

/** Commits each change in a transaction of its own, so that an error of commits is in all of them. */
async function oneByOne(
  this: Checkpoints,
  ...[source, lease, changes]: Parameters<Checkpoints['commitTogether']>
): Promise<WriteReport> {
  let report: WriteReport = emptyTally('');
  for (;;) {
    const change = await changes.next(() => true, NEVER);
    if (change === undefined) return report;
    report = await this.commit(source, { ...change, ...(lease === undefined ? {} : { lease }) });
    changes.written(report);
  }
}

/** Commits the positions of pages before the pages, as far as one transaction stores several. */
const withPositionsFirst = (checkpoints: Checkpoints): Checkpoints => ({
  ...checkpoints,
  async commitTogether(source, lease, changes) {
    const begun: CheckpointChange[] = [];
    const held = lease === undefined ? {} : { lease };
    for (;;) {
      const change = await changes.next(() => true, NEVER);
      if (change === undefined) break;
      begun.push(change);
      changes.written(emptyTally(''));
    }
    if (begun.length < 2) {
      let report: WriteReport = emptyTally('');
      for (const each of begun) report = await checkpoints.commit(source, { ...each, ...held });
      return report;
    }
    for (const each of begun) await checkpoints.commit(source, { ...accountOf(each), ...held });
    let report: WriteReport = emptyTally('');
    for (const each of begun) report = await checkpoints.commit(source, { ...withoutState(each), ...held });
    return report;
  },
});

const accountOf = ({ state = {} }: CheckpointChange): CheckpointChange => ({ state });
const withoutState = ({ state: _, ...change }: CheckpointChange): CheckpointChange => change;

function withRecords(
  change: CheckpointChange,
  each: (record: ParsedRecord) => ParsedRecord,
): CheckpointChange {
  const records = (change.records ?? []).map(({ resource, records: group }) => ({
    resource,
    records: resource === 'Property' ? group.map(each) : group,
  }));
  return { ...change, records };
}

function withEveryCollection(record: ParsedRecord): ParsedRecord {
  const empty = COLLECTION_NAMES.map((name) => [name, []] as const);
  return withMembers(record, { children: new Map([...empty, ...record.children]) });
}

function withoutEmptyCollections(record: ParsedRecord): ParsedRecord {
  const children = new Map([...record.children].filter(([, members]) => members.length > 0));
  return withMembers(record, { children });
}

/** States in which every sweep that has begun is complete. */
function ended(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => {
      const isWalking = name.startsWith('sweep ') && JSON.stringify(value).includes('"walking"');
      return [name, isWalking ? { ...Object(value), kind: 'deleting', deleted: 0 } : value];
    }),
  );
}

/** A lower bound that equals the stored cursor, not a second before it. */
function withoutOverlap(request: TransportRequest): TransportRequest {
  const later = (_: string, moment: string): string =>
    `gt%20${new Date(Date.parse(moment) + 1000).toISOString().replace('.000', '')}%20and`;
  return { ...request, url: request.url.replace(/gt%20([^%]+)%20and/, later) };
}

const FILTER = /ilter=[^&]*Timestamp[^&]*/;

function withFilterOf(last: Map<string, string>, request: TransportRequest): TransportRequest {
  const filter = FILTER.exec(request.url)?.[0];
  if (filter === undefined) return request;
  const place = walkOf(request.url)?.split('?')[0] ?? '';
  const before = last.get(place);
  if (!isLaterPage(request.url)) last.set(place, before ?? filter);
  return before === undefined ? request : { ...request, url: request.url.replace(FILTER, before) };
}

function withClockAhead(transport: Transport): Transport {
  return async (request) => {
    const { headers, ...response } = await transport(request);
    const date = new Date(Date.parse(headers.date ?? '') + AHEAD);
    return {
      ...response,
      headers: Number.isNaN(date.getTime()) ? headers : { ...headers, date: date.toUTCString() },
    };
  };
}

/** Dates of the source that never go back. */
function withNewestDate(newest: { date: number }, transport: Transport): Transport {
  return async (request) => {
    const { headers, ...response } = await transport(request);
    if (headers.date === undefined) return { ...response, headers };
    newest.date = Math.max(newest.date, Date.parse(headers.date));
    return { ...response, headers: { ...headers, date: new Date(newest.date).toUTCString() } };
  };
}

function withoutView(transport: Transport): Transport {
  return async (request) => {
    const { headers, ...response } = await transport(request);
    const { 'x-plat-view': _, ...rest } = headers;
    return { ...response, headers: rest };
  };
}

function withoutEpoch(transport: Transport): Transport {
  return async (request) => {
    const { headers, ...response } = await transport(request);
    const { 'x-plat-epoch': _, ...rest } = headers;
    return { ...response, headers: rest };
  };
}

function withoutWitnesses({ state = {}, ...change }: CheckpointChange): CheckpointChange {
  const kept = Object.entries(state).filter(([name]) => !name.startsWith('witnesses '));
  return { ...change, state: Object.fromEntries(kept) };
}

function withoutRetryAfter(transport: Transport): Transport {
  return async (request) => {
    const { headers, ...response } = await transport(request);
    const { 'retry-after': _, ...rest } = headers;
    return { ...response, headers: rest };
  };
}

async function followed(transport: Transport, request: TransportRequest): ReturnType<Transport> {
  const response = await transport(request);
  const { location } = response.headers;
  return location === undefined ? response : transport({ ...request, url: location });
}

function withLeaseTakenBack(checkpoints: Checkpoints): Checkpoints {
  return {
    ...checkpoints,
    async commit(source, change) {
      if (change.lease !== undefined) await checkpoints.lease(source, change.lease);
      return checkpoints.commit(source, change);
    },
    commitTogether: oneByOne,
  };
}
