/** Reports the events of a replication on stderr: text with a progress line for a person, JSON lines for a log. */
import type { ReplicaEvent } from '../replica/events.ts';
import { formatSeconds, type Intervals, makeThrottle, reportProgress } from './progress.ts';
import { isStderrTerminal, removeBottomLine, reportJson, reportLines, writeJson } from './terminal.ts';

/** What a run could not complete. */
interface LeftOver {
  /** The numbers of records that could not be stored, by resource. */
  readonly quarantined: Readonly<Record<string, number>>;
  /** The number of listings with missing files. */
  readonly withoutFiles: number;
}

const INTERVALS: Intervals = { lines: 2000, screen: 200 };
/** The maximum number of keys in a line. */
const MOST_KEYS = 20;

/** Members of every line, in addition to those of its event. The names differ from those of every event. */
interface ReservedMembers {
  readonly time?: never;
  readonly source?: never;
}

interface Rate {
  readonly began: number;
  /** The number of rows that were done before. */
  from?: number;
  readonly isDue: () => boolean;
}

/** @param json whether the end is also written to stdout */
export function replicaScreen(source: string, json = false) {
  const isTerminal = isStderrTerminal();
  const rates = new Map<string, Rate>();
  const say = (event: Readonly<Record<string, unknown>>): void => {
    removeBottomLine();
    if (isTerminal) reportLines(textOf(event));
    else reportJson({ time: new Date().toISOString(), source, ...event });
  };
  const page = (event: ReplicaEvent & { kind: 'page' }): void => {
    const { resource, step, done, total, rows } = event;
    const name = `${resource} ${step}`;
    const rate: Rate = rates.getOrInsertComputed(name, newRate);
    rate.from ??= done - rows;
    const isLast = total !== undefined && done >= total;
    if (!rate.isDue() && !isLast) return;
    const seconds = Math.max(0.001, (performance.now() - rate.began) / 1000);
    const perSecond = rounded((done - rate.from) / seconds);
    const secondsLeft =
      total === undefined || perSecond === 0
        ? undefined
        : Math.max(0, Math.round((total - done) / perSecond));
    const text = progressText(event, perSecond, secondsLeft);
    const facts = { source, kind: 'page', resource, step, done, total, perSecond, secondsLeft };
    reportProgress([text], text, facts);
  };
  return {
    show(event: ReplicaEvent & ReservedMembers): void {
      if (event.kind === 'page') {
        page(event);
        return;
      }
      // Their pages are reported instead.
      if (event.kind === 'written' || (event.kind === 'media' && event.state === 'stored')) return;
      if (event.kind === 'step') rates.set(`${event.resource} ${event.step}`, newRate());
      say(event.kind === 'deleted' || event.kind === 'gone' ? short(event) : { ...event });
    },
    end(result: string, { quarantined, withoutFiles }: LeftOver): void {
      say({
        kind: 'end',
        result,
        quarantined: Object.keys(quarantined).length === 0 ? undefined : quarantined,
        withoutFiles: withoutFiles || undefined,
      });
      if (json) writeJson({ result, quarantined, withoutFiles });
    },
  };
}

const newRate = (): Rate => ({ began: performance.now(), isDue: makeThrottle(INTERVALS) });

/** A rate with one decimal if it is low: the files of a listing may take seconds. */
const rounded = (rate: number): number => (rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate));

const short = ({ kind, resource, keys }: ReplicaEvent & { kind: 'deleted' | 'gone' }) => ({
  kind,
  resource,
  rows: keys.length,
  keys: keys.slice(0, MOST_KEYS),
});

function progressText(
  { resource, step, done, total }: ReplicaEvent & { kind: 'page' },
  perSecond: number,
  secondsLeft: number | undefined,
): string {
  const of = total === undefined ? '' : ` of ${total}`;
  const percent = total === undefined || total === 0 ? '' : ` (${Math.floor((done / total) * 100)} %)`;
  const left = secondsLeft === undefined ? '' : `, ${formatSeconds(secondsLeft)} left`;
  return `${resource} ${step}: ${done}${of}${percent}, ${perSecond}/s${left}`;
}

function textOf({ kind, ...facts }: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(facts)
    .filter(([name, value]) => value !== undefined && name !== 'wait')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const { wait } = facts;
  if (typeof wait === 'number')
    members.push(`- ${kind === 'waiting' ? 'goes on' : 'retry'} in ${(wait / 1000).toFixed(1)} s`);
  return `${String(kind).padEnd(12)} ${members.join(' ')}`;
}
