/** The collections of a source: the state of each, the work in progress, and its estimated time. */
import { useRef } from 'preact/hooks';
import { counted, whole } from '../../parts/figures.ts';
import { Table } from '../../parts/table.tsx';
import { type Collection, Pace, type Progress, type Source } from './report.ts';
import { moment, span, WORKS } from './words.ts';

/** The states of a copy, in order. */
const STATES: readonly { readonly state: Collection['state']; readonly title: string }[] = [
  { state: 'new', title: 'New' },
  { state: 'initial', title: 'Downloading' },
  { state: 'filling', title: 'Fetching sub-resources' },
  { state: 'current', title: 'Current' },
  { state: 'updating', title: 'Reading a window' },
];

const SWEEPS: readonly { readonly state: Collection['sweep']; readonly title: string }[] = [
  { state: 'idle', title: 'No purge' },
  { state: 'walking', title: 'Comparing keys' },
  { state: 'deleting', title: 'Deleting' },
  { state: 'fetching', title: 'Fetching what is missing' },
];

/** The current state among those of a state machine. */
const Machine = ({
  label,
  states,
  now,
}: {
  readonly label: string;
  readonly states: readonly { readonly state: string; readonly title: string }[];
  readonly now: string;
}) => (
  <ol class="machine" aria-label={label}>
    {states.map(({ state, title }) => (
      <li key={state} aria-current={state === now ? 'step' : undefined}>
        {title}
      </li>
    ))}
  </ol>
);

export function Collections({ source, at }: { readonly source: Source; readonly at: number }) {
  const pace = useRef(new Pace());
  return (
    <Table
      label={`Collections of ${source.source}`}
      class="collections"
      rows={source.collections}
      keyOf={({ collection }) => collection}
      columns={[
        { title: 'Collection', cell: ({ collection }) => collection },
        { title: 'State', cell: (each) => <States of={each} /> },
        {
          title: 'Progress',
          cell: ({ collection, progress }) =>
            progress.length === 0 ? (
              <span class="hint">idle</span>
            ) : (
              progress.map((one) => (
                <ProgressBar
                  key={one.work}
                  progress={one}
                  began={beganOf(source, collection, one.work)}
                  at={at}
                  isHeld={source.holder !== undefined}
                  perSecond={pace.current.note(`${collection} ${one.work}`, { at, done: one.done })}
                  label={`${WORKS[one.work]} of ${collection}`}
                />
              ))
            ),
        },
        { title: 'Records', isNumber: true, cell: ({ stored }) => whole(stored) },
        {
          title: 'Complete up to',
          cell: ({ cursor, lag = 0 }) =>
            cursor === undefined ? (
              '–'
            ) : (
              <>
                <time dateTime={cursor}>{moment(cursor)}</time>
                <span class="hint"> {span(lag)} behind</span>
              </>
            ),
        },
        { title: 'To fetch', isNumber: true, cell: ({ wanted }) => whole(wanted) },
      ]}
    />
  );
}

/** The states of a collection and of its purge. */
const States = ({ of: { collection, state, sweep } }: { readonly of: Collection }) => (
  <>
    {state === 'swept' ? null : <Machine label={`State of ${collection}`} states={STATES} now={state} />}
    {sweep === 'guarded' ? (
      <span class="badge warn">Purge stopped: it would delete too much</span>
    ) : sweep !== 'idle' || state === 'swept' ? (
      <Machine label={`Purge of ${collection}`} states={SWEEPS} now={sweep} />
    ) : null}
  </>
);

const beganOf = ({ log }: Source, collection: string, work: Progress['work']): number | undefined =>
  log[collection]?.findLast((entry) => entry.outcome === 'open' && entry.work === work)?.began;

interface ProgressProps {
  readonly progress: Progress;
  readonly began: number | undefined;
  readonly at: number;
  readonly isHeld: boolean;
  /** As measured between two reports. */
  readonly perSecond: number | undefined;
  readonly label: string;
}

function ProgressBar({ progress, began, at, isHeld, perSecond, label }: ProgressProps) {
  const { work, done, total } = progress;
  const average = began === undefined || at <= began ? undefined : (done * 1000) / (at - began);
  const speed = perSecond !== undefined && perSecond > 0 ? perSecond : average;
  const left = total === undefined || !speed || !isHeld ? undefined : Math.max(0, (total - done) / speed);
  const facts = [
    total === undefined ? counted(done, 'record') : `${whole(done)} of ${whole(total)}`,
    ...(isHeld && speed ? [`${whole(speed)} a second`] : []),
    ...(left === undefined ? [] : [left < 1 ? 'nearly done' : `${span(Math.ceil(left) * 1000)} left`]),
    ...(isHeld ? [] : ['interrupted; the next run continues here']),
  ];
  return (
    <div class="progress">
      <span>{WORKS[work]}</span>
      {total === undefined ? null : (
        <progress aria-label={label} max={Math.max(1, total)} value={Math.min(done, total)} />
      )}
      <span class="hint">{facts.join(', ')}</span>
    </div>
  );
}
