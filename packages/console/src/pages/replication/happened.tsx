/** The events of a source in the last day: windows, purges and problems, on a time line and in tables. */
import { counted, whole } from '../../parts/figures.ts';
import { Table } from '../../parts/table.tsx';
import type { Lane, Mark } from '../../parts/time-line.tsx';
import type { Source, Trouble, Work } from './report.ts';
import { ago, moment, span, WORKS } from './words.ts';

/** The lanes of a source: windows and purges of each collection that had any, and problems. */
export function lanesOf({ log, lately }: Source, at: number): Lane[] {
  const lanes = Object.entries(log).flatMap(([collection, entries]): Lane[] => {
    const [purges, loads] = [entries.filter(isPurge), entries.filter((entry) => !isPurge(entry))];
    return [
      ...(loads.length === 0
        ? []
        : [{ name: `${collection} windows`, marks: loads.map((one) => markOf(one, at)) }]),
      ...(purges.length === 0
        ? []
        : [{ name: `${collection} purges`, marks: purges.map((one) => markOf(one, at)) }]),
    ];
  });
  const marks = lately
    .filter(({ kind }) => kind !== 'recovered')
    .map(({ kind, since, last, times, reason }): Mark => {
      const title = KINDS[kind] ?? kind;
      return {
        ...{ from: since, to: last, look: 'bad', text: `${title}: ${reason}` },
        cells: [span(last - since), '', '', `${title}, ${counted(times, 'time')}: ${reason}`],
      };
    });
  return marks.length === 0 ? lanes : [...lanes, { name: 'Trouble', marks }];
}

const isPurge = ({ work }: Work): boolean => work === 'purge';

const LOOKS: Readonly<Record<Work['outcome'], Mark['look']>> = {
  open: 'open',
  done: 'plain',
  lost: 'bad',
  guarded: 'bad',
  unsure: 'bad',
};

const tookOf = ({ began, ended, took }: Work, at: number): number => took ?? (ended ?? at) - began;

function resultOf({ work, outcome, deleted = 0, times = 1, again }: Work): string {
  const several = times > 1 ? `, ${whole(times)} of them` : '';
  const repeats = again > 0 ? `, begun again ${counted(again, 'time')}` : '';
  switch (outcome) {
    case 'open':
      return `not ended${repeats}`;
    case 'lost':
      return 'abandoned and restarted';
    case 'guarded':
      return `stopped: it would have deleted ${counted(deleted, 'record')}`;
    case 'unsure':
      return 'deleted nothing: the keys of the source do not show reliably what was deleted';
    case 'done':
      return `${work === 'purge' ? `removed ${counted(deleted, 'record')}` : 'done'}${several}${repeats}`;
  }
}

function markOf(entry: Work, at: number): Mark {
  const { work, began, ended = at, outcome, rows, from, to } = entry;
  const took = span(tookOf(entry, at));
  const upTo = to === undefined ? '' : moment(to);
  const bounds = from === undefined || to === undefined ? '' : ` of ${moment(from)} to ${upTo}`;
  const what = work === 'purge' ? counted(rows, 'key') : counted(rows, 'record');
  return {
    from: began,
    to: ended,
    look: outcome === 'done' && work === 'purge' ? 'second' : LOOKS[outcome],
    text: `${WORKS[work]}${bounds}, ${moment(began)}: ${what} in ${took}, ${resultOf(entry)}`,
    cells: [took, whole(rows), upTo, resultOf(entry)],
  };
}

/** The purges that deleted something or were stopped. */
export function Purges({ source, at }: { readonly source: Source; readonly at: number }) {
  const purges = Object.entries(source.log)
    .flatMap(([collection, entries]) => entries.filter(isPurge).map((entry) => ({ collection, entry })))
    .filter(({ entry: { deleted = 0, outcome } }) => deleted > 0 || outcome === 'unsure')
    .toSorted((one, other) => other.entry.began - one.entry.began);
  return (
    <>
      <h3>Purges that removed something in the last day</h3>
      {purges.length === 0 ? (
        <p class="hint">There were none.</p>
      ) : (
        <Table
          label={`Purges of ${source.source}`}
          rows={purges}
          keyOf={({ collection, entry }) => `${collection} ${entry.began}`}
          columns={[
            { title: 'Collection', cell: ({ collection }) => collection },
            { title: 'Began', cell: ({ entry }) => ago(entry.began, at) },
            { title: 'Keys compared', isNumber: true, cell: ({ entry }) => whole(entry.rows) },
            { title: 'Result', cell: ({ entry }) => resultOf(entry) },
            { title: 'Removed', class: 'keys', cell: ({ entry }) => removedOf(entry) },
          ]}
        />
      )}
    </>
  );
}

function removedOf({ removed = [], deleted = 0, outcome }: Work): string {
  if (outcome === 'guarded') return 'nothing';
  const more = deleted - removed.length;
  const names = removed.map(({ resource, key }) => `${resource} ${key}`).join(', ');
  return more > 0 ? `${names} and ${whole(more)} more` : names;
}

const KINDS: Readonly<Record<string, string>> = {
  retry: 'Request failed and was retried',
  failed: 'Step failed',
  recovered: 'Recovered',
  again: 'Walk restarted',
  refresh: 'Full refresh',
  unsure: 'Purge deleted nothing',
  doubt: 'Needs attention',
  clock: 'Clocks differ',
};

export function Troubles({ troubles, at }: { readonly troubles: readonly Trouble[]; readonly at: number }) {
  return (
    <>
      <h3>Errors and retries in the last day</h3>
      {troubles.length === 0 ? (
        <p class="hint">There were none.</p>
      ) : (
        <Table
          label="Errors and retries"
          class="troubles"
          rows={troubles.toReversed()}
          keyOf={({ kind, since, reason }) => `${kind} ${since} ${reason}`}
          columns={[
            { title: 'What', cell: ({ kind }) => KINDS[kind] ?? kind },
            { title: 'Of', cell: ({ of = 'the source' }) => of },
            { title: 'Last', cell: ({ last }) => ago(last, at) },
            { title: 'Times', isNumber: true, cell: ({ times }) => whole(times) },
            { title: 'Reason', class: 'reason', cell: ({ reason }) => reason },
          ]}
        />
      )}
    </>
  );
}
