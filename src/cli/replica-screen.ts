import type { ReplicaEvent } from '../replica/events.ts';
import { canWriteOver, dropOver, isWatched, reportJson, reportLines, reportOver } from './terminal.ts';

/** What a person or a log sees of a replication. */
export interface ReplicaScreen {
  show(event: ReplicaEvent): void;
  /** @param quarantined records that could not be stored, by resource */
  end(result: string, quarantined: Readonly<Record<string, number>>): void;
}

/** Milliseconds between two lines of progress of one step. */
const EVERY = 2000;
/** Keys that a line names. */
const NAMED = 20;

/** What every line has beside its event, under names that no event has. */
interface OfEveryLine {
  readonly time?: never;
  readonly source?: never;
}

interface Rate {
  readonly began: number;
  /** Rows that were done before. */
  from?: number;
  last: number;
}

/** Lines on stderr: JSON, or text with a line of progress that is written over where a person watches. */
export function replicaScreen(source: string): ReplicaScreen {
  const isTerminal = isWatched();
  const writesOver = canWriteOver();
  const rates = new Map<string, Rate>();
  const say = (event: Readonly<Record<string, unknown>>): void => {
    dropOver();
    if (isTerminal) reportLines(textOf(event));
    else reportJson({ time: new Date().toISOString(), source, ...event });
  };
  const page = (event: ReplicaEvent & { kind: 'page' }): void => {
    const { resource, step, done, total, rows } = event;
    const now = performance.now();
    const name = `${resource} ${step}`;
    const rate = rates.get(name) ?? { began: now, last: Number.NEGATIVE_INFINITY };
    rates.set(name, rate);
    rate.from ??= done - rows;
    const isLast = total !== undefined && done >= total;
    if (now - rate.last < (writesOver ? EVERY / 10 : EVERY) && !isLast) return;
    rate.last = now;
    const perSecond = Math.round((done - rate.from) / Math.max(0.001, (now - rate.began) / 1000));
    const secondsLeft =
      total === undefined || perSecond === 0
        ? undefined
        : Math.max(0, Math.round((total - done) / perSecond));
    const text = progressText(event, perSecond, secondsLeft);
    if (writesOver) reportOver([text]);
    else if (isTerminal) reportLines(text);
    else say({ kind: 'page', resource, step, done, total, perSecond, secondsLeft });
  };
  return {
    show(event: ReplicaEvent & OfEveryLine) {
      if (event.kind === 'page') {
        page(event);
        return;
      }
      if (event.kind === 'media' && event.state === 'stored') return; // one of many, told by the page
      if (event.kind === 'step') {
        const began = performance.now();
        rates.set(`${event.resource} ${event.step}`, { began, last: Number.NEGATIVE_INFINITY });
      }
      say(event.kind === 'deleted' || event.kind === 'gone' ? short(event) : { ...event });
    },
    end: (result, quarantined) =>
      say({ kind: 'end', result, ...(Object.keys(quarantined).length === 0 ? {} : { quarantined }) }),
  };
}

const short = ({ kind, resource, keys }: ReplicaEvent & { kind: 'deleted' | 'gone' }) => ({
  kind,
  resource,
  rows: keys.length,
  keys: keys.slice(0, NAMED),
});

function progressText(
  { resource, step, done, total }: ReplicaEvent & { kind: 'page' },
  perSecond: number,
  secondsLeft: number | undefined,
): string {
  const of = total === undefined ? '' : ` of ${total}`;
  const percent = total === undefined || total === 0 ? '' : ` (${Math.floor((done / total) * 100)} %)`;
  const left = secondsLeft === undefined ? '' : `, ${clock(secondsLeft)} left`;
  return `${resource} ${step}: ${done}${of}${percent}, ${perSecond}/s${left}`;
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

function textOf({ kind, ...facts }: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(facts)
    .filter(([name, value]) => value !== undefined && name !== 'wait')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const { wait } = facts;
  if (typeof wait === 'number')
    told.push(`- ${kind === 'waiting' ? 'goes on' : 'retry'} in ${(wait / 1000).toFixed(1)} s`);
  return `${String(kind).padEnd(12)} ${told.join(' ')}`;
}
