/**
 * The service's report on replication: requested once (GET /replication), and afterwards pushed by the stream whenever it changes.
 */
import { useEffect, useState } from 'preact/hooks';
import { get, type SurfaceName } from '../../app/api.ts';
import { returns } from '../../app/connection.ts';
import { onReplicationReport } from '../../app/live.ts';

export interface Progress {
  readonly work: 'download' | 'window' | 'purge';
  readonly done: number;
  readonly total?: number;
  readonly from?: string;
  readonly to?: string;
}

export interface Collection {
  readonly collection: string;
  readonly state: 'new' | 'initial' | 'filling' | 'current' | 'updating' | 'swept';
  readonly stored: number;
  readonly cursor?: string;
  readonly lag?: number;
  readonly sweep: 'idle' | 'walking' | 'deleting' | 'fetching' | 'guarded';
  readonly progress: readonly Progress[];
  readonly swept?: { readonly begun: string; readonly keys: number; readonly deleted: number };
  readonly wanted: number;
}

/** Times of entries are milliseconds since 1970. */
export interface Work {
  readonly work: Progress['work'];
  readonly began: number;
  readonly ended?: number;
  readonly outcome: 'open' | 'done' | 'lost' | 'guarded' | 'unsure';
  readonly rows: number;
  readonly again: number;
  readonly from?: string;
  readonly to?: string;
  readonly deleted?: number;
  readonly removed?: readonly { readonly resource: string; readonly key: string }[];
  readonly times?: number;
  readonly took?: number;
}

export interface Trouble {
  readonly kind: string;
  readonly since: number;
  readonly last: number;
  readonly times: number;
  readonly reason: string;
  readonly of?: string;
}

export interface Source {
  readonly source: string;
  readonly identity?: string;
  readonly abilities: readonly string[];
  readonly collections: readonly Collection[];
  readonly lastUpdate?: string;
  readonly lastPurge?: string;
  readonly quarantined: number;
  readonly ignored: readonly string[];
  readonly holder?: string;
  /** How the last watch learned of changes. */
  readonly following?: {
    readonly way: string;
    readonly since: string;
    readonly reason?: string;
    readonly level?: string;
  };
  readonly troubles: readonly {
    readonly step: string;
    readonly since: string;
    readonly attempts: number;
    readonly reason: string;
    readonly lasting: boolean;
  }[];
  readonly stale?: string;
  readonly log: Readonly<Record<string, readonly Work[]>>;
  readonly lately: readonly Trouble[];
}

export interface Walk {
  readonly surface: SurfaceName;
  readonly resource: string;
  readonly of: 'records' | 'keys' | 'window';
  readonly window?: string;
  readonly began: number;
  readonly last: number;
  readonly pages: number;
  readonly rows: number;
  readonly state: 'walking' | 'done' | 'left';
  readonly isPart: boolean;
}

export interface KeyWalks {
  readonly key: string;
  readonly current: readonly (Walk & { readonly pagesPerMinute: number })[];
  readonly ended: readonly Walk[];
}

export interface Report {
  /** The service's clock, in milliseconds since 1970. */
  readonly at: number;
  readonly sources: readonly Source[];
  readonly walks: readonly KeyWalks[];
}

const moment = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** A report as a file, with a row for each copied collection, each work of its last day, and each walk of a key. */
export const rowsOf = ({ sources, walks }: Report): readonly Readonly<Record<string, unknown>>[] => [
  ...sources.flatMap(({ source, collections, log }) => [
    ...collections.map(({ collection, state, sweep, stored, cursor, lag, wanted }) => ({
      ...{ kind: 'collection', source, collection, state, sweep, stored, cursor, lag, wanted },
    })),
    ...Object.entries(log).flatMap(([collection, works]) =>
      works.map(({ work, began, ended, outcome, rows, deleted, from, to }) => ({
        ...{ kind: work, source, collection, state: outcome, began: moment(began), ended: moment(ended) },
        ...{ rows, deleted, from, to },
      })),
    ),
  ]),
  ...walks.flatMap(({ key, current, ended }) =>
    [...ended, ...current].map(({ surface, resource, of, window, began, last, pages, rows, state }) => ({
      ...{ kind: 'walk', key, surface, collection: resource, of, window, state },
      ...{ began: moment(began), ended: moment(last), pages, rows },
    })),
  ),
];

export type Reported =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'reported'; readonly report: Report };

/** @returns the latest report, and a function that requests the next one at once */
export function useReport(): readonly [Reported, () => void] {
  const [reported, setReported] = useState<Reported>({ kind: 'loading' });
  const [turn, setTurn] = useState(0);
  const returned = returns.value;
  useEffect(
    () => onReplicationReport((json) => setReported({ kind: 'reported', report: JSON.parse(json) })),
    [],
  );
  useEffect(() => {
    let isGone = false;
    get<Report>('/replication').then(
      (report) => {
        if (!isGone) setReported({ kind: 'reported', report });
      },
      (error: unknown) => {
        // The last report remains visible while the service is away; the frame shows that it is.
        if (!isGone) setReported((was) => (was.kind === 'reported' ? was : { kind: 'failed', error }));
      },
    );
    return () => {
      isGone = true;
    };
  }, [turn, returned]);
  return [reported, () => setTurn((before) => before + 1)];
}

interface Sample {
  readonly at: number;
  readonly done: number;
}

/** Milliseconds over which a rate is measured. */
const MEASURED = 60_000;

/** The rates of work in progress, from one report to the next. */
export class Pace {
  readonly #samples = new Map<string, Sample[]>();

  /** @returns rows per second; undefined until a second report has arrived */
  note(name: string, sample: Sample): number | undefined {
    const known = this.#samples.get(name) ?? [];
    const last = known.at(-1);
    // A walk that has been restarted is measured from its new beginning.
    const kept =
      last !== undefined && last.done > sample.done
        ? []
        : known.filter(({ at }) => at > sample.at - MEASURED);
    const samples = last?.at === sample.at ? kept : [...kept, sample];
    this.#samples.set(name, samples);
    const [first] = samples;
    if (first === undefined || first.at === sample.at) return undefined;
    return ((sample.done - first.done) * 1000) / (sample.at - first.at);
  }
}
