/**
 * EntityEvent (RESO RCP-27) as a method to learn of changes: sequence numbers, resources and keys, requested repeatedly. An event
 * says neither what happened nor when; a record that no longer exists was deleted.
 */

import type { Clock } from '../../../shared/clock.ts';
import { isObject } from '../../../shared/json.ts';
import type { SourceClient } from '../../http/client.ts';
import { RequestFailure, stopped } from '../../http/failure.ts';
import { keyFromValue } from '../response.ts';
import type { ChangeFeed, FeedReport, ReportedChange } from '../source.ts';
import { type ListResponse, nextLinkIn, readList } from './lists.ts';
import { withOptions } from './urls.ts';

const SEQUENCE = 'EntityEventSequence';
const PAGE = 1000;
const ATTEMPTS = 2;

interface EntityEventOptions {
  readonly client: SourceClient;
  readonly root: string;
  readonly clock: Clock;
  /** Milliseconds between two requests while nothing changes. */
  readonly every: number;
}

export function entityEventFeed({ client, root, clock, every }: EntityEventOptions): ChangeFeed {
  const ask = (options: readonly string[]): Promise<ListResponse> =>
    client.get(withOptions(`${root}EntityEvent`, options), readList, { attempts: ATTEMPTS });
  return {
    way: 'entity-event',
    isPushed: false,
    // The event stream of the same source uses the same sequence numbers.
    translatePosition: ({ way, position }) => (way === 'events' ? /^\d+/.exec(position)?.[0] : undefined),
    async currentPosition() {
      const { values } = await ask([`$orderby=${SEQUENCE} desc`, '$top=1']);
      const [last] = values;
      return { position: last === undefined ? '0' : String(numberOf(last)), unreported: [] };
    },
    async *changesSince(position, resources, signal): AsyncGenerator<FeedReport> {
      for (let last = Number(position); !signal.aborted; ) {
        let answer: ListResponse;
        try {
          answer = await ask([`$filter=${SEQUENCE} gt ${last}`, `$orderby=${SEQUENCE} asc`, `$top=${PAGE}`]);
        } catch (error) {
          if (!(error instanceof RequestFailure) || error.status !== 410) throw error;
          yield { kind: 'expired', position: undefined };
          return;
        }
        const { page, values, facts } = answer;
        const isLevel = values.length === 0 || (nextLinkIn(page) === undefined && values.length < PAGE);
        // If another page follows, it may contain changes from before this time.
        const at = isLevel ? facts.serverTime : undefined;
        const changes = values.map((value) => changeOf(value, at));
        last = values.reduce<number>((most, value) => Math.max(most, numberOf(value)), last);
        const wanted = changes.filter(({ resource }) => resources.includes(resource));
        if (wanted.length > 0) yield { kind: 'changes', changes: wanted };
        yield { kind: 'position', position: String(last), isLevel };
        if (isLevel) await clock.sleep(every, signal);
      }
      throw stopped();
    },
  };
}

function changeOf(value: unknown, at: number | undefined): ReportedChange {
  const { ResourceName: resource, ResourceRecordKey: given } = isObject(value) ? value : {};
  const key = keyFromValue(given);
  if (typeof resource !== 'string' || key === undefined) throw unreadable(value);
  return { resource, key, isDeleted: false, at };
}

function numberOf(value: unknown): number {
  const number = Number(isObject(value) ? value[SEQUENCE] : undefined);
  if (!Number.isSafeInteger(number)) throw unreadable(value);
  return number;
}

const unreadable = (value: unknown): RequestFailure =>
  new RequestFailure(
    'transient',
    `The source returned an invalid EntityEvent: ${JSON.stringify(value)?.slice(0, 120)}`,
  );
