/** One copied source: the progress of each collection, what happened in the span, its problems, and its quarantine. */
import { Fact } from '../../parts/fact.tsx';
import { counted, whole } from '../../parts/figures.ts';
import { TimeLine } from '../../parts/time-line.tsx';
import { Collections } from './collections.tsx';
import { lanesOf, Purges, Troubles } from './happened.tsx';
import { Quarantine } from './quarantine.tsx';
import type { Source } from './report.ts';
import { ago, moment } from './words.ts';

interface SourceProps {
  readonly source: Source;
  readonly at: number;
  /** The length of the time line in milliseconds. */
  readonly length: number;
  readonly again: () => void;
}

export function SourceView({ source, at, length, again }: SourceProps) {
  const {
    source: name,
    identity,
    holder,
    stale,
    troubles,
    lastUpdate,
    lastPurge,
    ignored,
    following,
  } = source;
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
        {identity ?? 'The source has never responded.'}
        {holder === undefined ? ' No process is replicating it now.' : ` Replicated now by ${holder}.`}
      </p>
      {following === undefined ? null : (
        <p class="hint">
          {FOLLOWS[following.way] ?? following.way} since {moment(following.since)}.
          {following.reason === undefined ? '' : ` ${following.reason}`}
        </p>
      )}
      {stale === undefined ? null : <p class="notice">Not up to date: {stale}.</p>}
      {troubles.map(({ step, since, attempts, reason }) => (
        <p class="notice bad" key={step}>
          <strong>{STEPS[step] ?? step}</strong> fails since {moment(since)} ({counted(attempts, 'attempt')}):{' '}
          {reason}
        </p>
      ))}
      <dl class="facts">
        {following?.level === undefined ? null : <Time name="Last level" at={following.level} now={at} />}
        <Time name="Last update" at={lastUpdate} now={at} />
        <Time name="Last purge" at={lastPurge} now={at} />
        <Fact name="In quarantine">{whole(source.quarantined)}</Fact>
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

/** How a watch learns of changes. */
const FOLLOWS: Readonly<Record<string, string>> = {
  events: 'Changes come as the source makes them (server-sent events)',
  delta: 'The replica asks the source what has changed (delta links)',
  'entity-event': 'The replica asks the source for its entity events',
  windows: 'Changes come in windows',
};

interface TimeProps {
  readonly name: string;
  readonly at: string | undefined;
  readonly now: number;
}

const Time = ({ name, at, now }: TimeProps) => (
  <Fact name={name}>{at === undefined ? 'never' : <time dateTime={at}>{ago(at, now)}</time>}</Fact>
);

const STEPS: Readonly<Record<string, string>> = {
  update: 'Updating',
  purge: 'Purging',
  accounts: 'Copying agents and offices',
  media: 'Copying files',
  watch: 'Replicating',
  source: 'The source',
};
