/** One copied source: how far each collection is, what happened in the span, what is in trouble, and its quarantine. */
import { useRef } from 'preact/hooks';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { type Lane, type Mark, TimeLine } from '../../parts/time-line.tsx';
import { Quarantine } from './quarantine.tsx';
import { type Collection, Pace, type Progress, type Source, type Trouble, type Work } from './report.ts';
import { ago, counted, moment, span, whole } from './words.ts';

interface SourceProps {
  readonly source: Source;
  readonly at: number;
  /** Milliseconds that the time line shows. */
  readonly length: number;
  readonly again: () => void;
}

export function SourceView({ source, at, length, again }: SourceProps) {
  const { source: name, identity, holder, stale, troubles, lastUpdate, lastPurge, ignored } = source;
  const health =
    troubles.length > 0
      ? { look: 'bad', text: 'In trouble' }
      : stale !== undefined
        ? { look: 'warn', text: 'Not up to date' }
        : { look: 'good', text: 'Up to date' };
  return (
    <section class="card source" aria-labelledby={`source-${name}`}>
      <h2 id={`source-${name}`}>
        Copy of {name} <span class={`badge ${health.look}`}>{health.text}</span>
      </h2>
      <p class="hint">
        {identity ?? 'The source has never answered.'}
        {holder === undefined ? ' No process is replicating it now.' : ` Replicated now by ${holder}.`}
      </p>
      {stale === undefined ? null : <p class="notice">Not up to date: {stale}.</p>}
      {troubles.map(({ step, since, attempts, reason }) => (
        <p class="notice bad" key={step}>
          <strong>{STEPS[step] ?? step}</strong> fails since {moment(since)} ({counted(attempts, 'attempt')}):{' '}
          {reason}
        </p>
      ))}
      <dl class="facts">
        <Fact name="Last update" at={lastUpdate} now={at} />
        <Fact name="Last purge" at={lastPurge} now={at} />
        <div>
          <dt>In quarantine</dt>
          <dd>{whole(source.quarantined)}</dd>
        </div>
      </dl>
      <h3>Collections</h3>
      <Collections source={source} at={at} />
      <h3>What happened</h3>
      <TimeLine
        label={`Windows, purges and trouble of ${name}`}
        from={at - length}
        to={at}
        lanes={lanesOf(source, at)}
        columns={['Took', 'Records', 'Up to', 'Result']}
      />
      <Purges source={source} at={at} />
      <Troubles troubles={source.lately} at={at} />
      {ignored.length === 0 ? null : (
        <details>
          <summary>{counted(ignored.length, 'field')} of the source left out</summary>
          <p class="mono">{ignored.join(', ')}</p>
        </details>
      )}
      <Quarantine source={name} quarantined={source.quarantined} now={at} again={again} />
    </section>
  );
}

const Fact = ({
  name,
  at,
  now,
}: {
  readonly name: string;
  readonly at: string | undefined;
  readonly now: number;
}) => (
  <div>
    <dt>{name}</dt>
    <dd>{at === undefined ? 'never' : <time dateTime={at}>{ago(at, now)}</time>}</dd>
  </div>
);

const STEPS: Readonly<Record<string, string>> = {
  update: 'Updating',
  purge: 'Purging',
  accounts: 'Copying agents and offices',
  media: 'Copying files',
  watch: 'Replicating',
  source: 'The source',
};

/** The states of a copy, in the order in which it goes through them. */
const STATES: readonly { readonly state: Collection['state']; readonly title: string }[] = [
  { state: 'new', title: 'New' },
  { state: 'initial', title: 'Downloading' },
  { state: 'filling', title: 'Fetching sub-data' },
  { state: 'current', title: 'Current' },
  { state: 'updating', title: 'Reading a window' },
];

const SWEEPS: readonly { readonly state: Collection['sweep']; readonly title: string }[] = [
  { state: 'idle', title: 'No purge' },
  { state: 'walking', title: 'Comparing keys' },
  { state: 'deleting', title: 'Deleting' },
  { state: 'fetching', title: 'Fetching what is missing' },
];

/** Where a machine is among its states. */
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

function Collections({ source, at }: { readonly source: Source; readonly at: number }) {
  const pace = useRef(new Pace());
  return (
    <ScrollBox label={`Collections of ${source.source}`}>
      <table class="collections">
        <thead>
          <tr>
            <th scope="col">Collection</th>
            <th scope="col">State</th>
            <th scope="col">Progress</th>
            <th scope="col" class="number">
              Records
            </th>
            <th scope="col">Complete up to</th>
            <th scope="col" class="number">
              To fetch
            </th>
          </tr>
        </thead>
        <tbody>
          {source.collections.map((each) => (
            <tr key={each.collection}>
              <th scope="row">{each.collection}</th>
              <td>
                {each.state === 'swept' ? null : (
                  <Machine label={`State of ${each.collection}`} states={STATES} now={each.state} />
                )}
                {each.sweep === 'guarded' ? (
                  <span class="badge warn">Purge stopped: it would delete too much</span>
                ) : each.sweep !== 'idle' || each.state === 'swept' ? (
                  <Machine label={`Purge of ${each.collection}`} states={SWEEPS} now={each.sweep} />
                ) : null}
              </td>
              <td>
                {each.progress.length === 0 ? (
                  <span class="hint">nothing under way</span>
                ) : (
                  each.progress.map((one) => (
                    <ProgressBar
                      key={one.work}
                      progress={one}
                      began={beganOf(source, each.collection, one.work)}
                      at={at}
                      isHeld={source.holder !== undefined}
                      perSecond={pace.current.note(`${each.collection} ${one.work}`, { at, done: one.done })}
                      label={`${WORKS[one.work]} of ${each.collection}`}
                    />
                  ))
                )}
              </td>
              <td class="number">{whole(each.stored)}</td>
              <td>
                {each.cursor === undefined ? (
                  '–'
                ) : (
                  <>
                    <time dateTime={each.cursor}>{moment(each.cursor)}</time>
                    <span class="hint"> {span(each.lag ?? 0)} behind</span>
                  </>
                )}
              </td>
              <td class="number">{whole(each.wanted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

const WORKS: Readonly<Record<Progress['work'], string>> = {
  download: 'Download',
  window: 'Window',
  purge: 'Purge',
};

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
    ...(isHeld ? [] : ['interrupted; the next run goes on here']),
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

/** The lanes of a source: windows and purges of each collection that has some, and trouble. */
function lanesOf({ log, lately }: Source, at: number): Lane[] {
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
      return 'given up and begun again';
    case 'guarded':
      return `stopped: it would have deleted ${counted(deleted, 'record')}`;
    case 'unsure':
      return 'deleted nothing: the source did not show what is gone';
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

/** The purges that removed something, or were stopped. */
function Purges({ source, at }: { readonly source: Source; readonly at: number }) {
  const purges = Object.entries(source.log)
    .flatMap(([collection, entries]) => entries.filter(isPurge).map((entry) => ({ collection, entry })))
    .filter(({ entry: { deleted = 0, outcome } }) => deleted > 0 || outcome === 'unsure')
    .toSorted((one, other) => other.entry.began - one.entry.began);
  return (
    <>
      <h3>Purges that removed something in the last day</h3>
      {purges.length === 0 ? (
        <p class="hint">None did.</p>
      ) : (
        <ScrollBox label={`Purges of ${source.source}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Collection</th>
                <th scope="col">Began</th>
                <th scope="col" class="number">
                  Keys compared
                </th>
                <th scope="col">Result</th>
                <th scope="col">Removed</th>
              </tr>
            </thead>
            <tbody>
              {purges.map(({ collection, entry }) => (
                <tr key={`${collection} ${entry.began}`}>
                  <th scope="row">{collection}</th>
                  <td>{ago(entry.began, at)}</td>
                  <td class="number">{whole(entry.rows)}</td>
                  <td>{resultOf(entry)}</td>
                  <td class="keys">{removedOf(entry)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
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
  retry: 'Request failed and was tried again',
  failed: 'Step failed',
  recovered: 'Recovered',
  again: 'Walk begun again',
  refresh: 'Everything is read again',
  unsure: 'Purge deleted nothing',
  doubt: 'To be looked at',
  clock: 'Clocks differ',
};

function Troubles({ troubles, at }: { readonly troubles: readonly Trouble[]; readonly at: number }) {
  return (
    <>
      <h3>Errors and retries in the last day</h3>
      {troubles.length === 0 ? (
        <p class="hint">There were none.</p>
      ) : (
        <ScrollBox label="Errors and retries">
          <table class="troubles">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Of</th>
                <th scope="col">Last</th>
                <th scope="col" class="number">
                  Times
                </th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {troubles.toReversed().map((each) => (
                <tr key={`${each.kind} ${each.since} ${each.reason}`}>
                  <th scope="row">{KINDS[each.kind] ?? each.kind}</th>
                  <td>{each.of ?? 'the source'}</td>
                  <td>{ago(each.last, at)}</td>
                  <td class="number">{whole(each.times)}</td>
                  <td class="reason">{each.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </>
  );
}
