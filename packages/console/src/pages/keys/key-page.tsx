/** One key: its rights, and its use in the last day compared with its limit. */
import { useMemo, useState } from 'preact/hooks';
import { link } from '../../app/route.ts';
import { Chart } from '../../parts/chart.tsx';
import { CountedBy, type Covered, highest, type Series, sum } from '../../parts/counted-by.tsx';
import { Fact } from '../../parts/fact.tsx';
import { clock, counted, moment, size, span, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Empty, Loading, Problem, Shown } from '../../parts/states.tsx';
import { useEvery } from '../../parts/use-every.ts';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';
import { type AllKeys, type Key, KINDS, type Limit, shownName, stateOf } from './key-facts.ts';
import { LastSweep, LastWindow, State, Systems } from './key-parts.tsx';
import { RevokeKey } from './revoke-key.tsx';

/** GET /keys/{id}/history, with an entry for each minute. */
interface KeyHistory extends Covered {
  readonly requests: Series;
  readonly rows: Series;
  readonly bytes: Series;
  /** Requests that were refused because of the rate limit. */
  readonly limited: Series;
}

const MINUTE = 60_000;

export function KeyPage({ id }: { readonly id: string }) {
  const [asked, again] = useAnswer<AllKeys>('/keys');
  const [history, historyAgain] = useAnswer<KeyHistory>(`/keys/${encodeURIComponent(id)}/history`);
  const [isRevoking, setRevoking] = useState(false);
  const refresh = () => {
    again();
    historyAgain();
  };
  useEvery(30, refresh);
  const all = latestOf(asked)?.body;
  const key = all?.keys.find((each) => each.id === id);
  if (asked.kind === 'failed') return <Problem error={asked.error} again={refresh} />;
  if (all === undefined) return <Loading what="the key" />;
  if (key === undefined) {
    return (
      <Empty title="There is no such key">
        <p>
          <a href={link(['keys'])}>All keys</a>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <p>
        <a href={link(['keys'])}>All keys</a>
      </p>
      <div class="keys-head">
        <h1>{shownName(key)}</h1>
        <State of={key} />
        {key.kind === 'admin' ? null : (
          <a class="button quiet" href={link(['explore'], { as: `key/${key.id}` })}>
            Explore as this key
          </a>
        )}
        {stateOf(key) === 'revoked' ? null : (
          <button type="button" class="quiet danger" onClick={() => setRevoking(true)}>
            Revoke
          </button>
        )}
      </div>
      <Facts of={key} limit={all.limits[key.kind]} />
      <h2>The last day</h2>
      <Shown of={history} again={refresh} what="its use">
        {({ body }) => (
          <>
            <LastDay of={body} limit={all.limits[key.kind]} />
            <SameAsAdmin
              path={`/keys/${encodeURIComponent(id)}/history`}
              table={{ name: `${key.id}-last-day`, rows: () => minutesOf(body) }}
            />
          </>
        )}
      </Shown>
      {isRevoking ? (
        <RevokeKey
          of={key}
          close={() => {
            setRevoking(false);
            refresh();
          }}
        />
      ) : null}
    </>
  );
}

/** The minutes of a day, for a file. */
const minutesOf = ({ from, requests, rows, bytes, limited }: KeyHistory) =>
  requests.map((amount, at) => ({
    minute: new Date(from + at * MINUTE).toISOString(),
    ...{ requests: amount, rows: rows[at], bytes: bytes[at], limited: limited[at] },
  }));

function Facts({ of, limit }: { readonly of: Key; readonly limit: Limit }) {
  return (
    <dl class="facts card">
      <Fact name="Key">
        <span class="mono">{of.id}</span>
      </Fact>
      <Fact name="Kind">
        {of.kind} <span class="hint">{KINDS[of.kind]}</span>
      </Fact>
      <Fact name="Role">{of.role}</Fact>
      <Fact name="Systems">
        <Systems of={of} />
      </Fact>
      <Fact name="Created">{moment(of.createdAt)}</Fact>
      <Fact name={of.revokedAt === null ? 'Expires' : 'Revoked'}>
        {of.revokedAt !== null
          ? moment(of.revokedAt)
          : of.expiresAt === null
            ? 'Never'
            : moment(of.expiresAt)}
      </Fact>
      <Fact name="Limit">
        {counted(limit.requests, 'request')} in {span(limit.seconds)}
      </Fact>
      <Fact name="Total use">
        {counted(of.use.requests, 'request')}, {counted(of.use.rows, 'record')}, {size(of.use.bytes)}
      </Fact>
      <Fact name="Last request">
        <Moment at={of.use.lastRequestAt} none="Never" />
      </Fact>
      <Fact name="Last window">
        <LastWindow of={of} />
      </Fact>
      <Fact name="Last full sweep">
        <LastSweep of={of} />
      </Fact>
    </dl>
  );
}

/** For each minute, the sum over the window that ends with it; null if nothing was counted. */
function inWindows(amounts: Series, minutes: number): (number | null)[] {
  let inWindow = 0;
  return amounts.map((amount, at) => {
    inWindow += (amount ?? 0) - (amounts[at - minutes] ?? 0);
    return amount === null ? null : inWindow;
  });
}

function LastDay({ of, limit }: { readonly of: KeyHistory; readonly limit: Limit }) {
  const minutes = Math.ceil(limit.seconds / 60);
  // A limit for less than a minute is converted to a limit for a minute.
  const bound = Math.round((limit.requests * minutes * 60) / limit.seconds);
  const shown = useMemo(() => {
    const windows = inWindows(of.requests, minutes);
    return {
      times: of.requests.map((_, at) => of.from + at * MINUTE),
      windows,
      bounds: windows.map(() => bound),
      busiest: windows.indexOf(highest(windows)),
      total: sum(of.requests),
      rows: sum(of.rows),
      limited: sum(of.limited),
    };
  }, [of, minutes, bound]);
  const { times, windows, bounds, busiest, total, rows, limited } = shown;
  if (total + limited === 0) {
    return (
      <Empty title="No requests in the last day">
        <CountedBy of={of} series={of.requests} />
      </Empty>
    );
  }
  const most = windows[busiest] ?? 0;
  const window = span(minutes * 60);
  const percent = Math.ceil((most / bound) * 100);
  return (
    <>
      <Chart
        title={`Requests in ${window}, against the limit`}
        summary={`${counted(total, 'request')}; at most ${whole(most)} in ${window}, at ${clock(times[busiest] ?? 0)}: ${percent}% of the limit`}
        times={times}
        lines={[
          { name: `Requests in ${window}`, tone: 'accent', values: windows, ofHour: 'most' },
          { name: 'Limit', tone: 'bad', values: bounds, ofHour: 'most', isBound: true },
        ]}
      />
      {limited === 0 ? null : (
        <Chart
          title="Requests refused above the limit, per minute"
          summary={`${counted(limited, 'request')} refused`}
          times={times}
          lines={[{ name: 'Refused', tone: 'bad', values: of.limited, ofHour: 'sum' }]}
        />
      )}
      <Chart
        title="Records returned per minute"
        summary={`${counted(rows, 'record')} in total`}
        times={times}
        lines={[{ name: 'Records', tone: 'accent', values: of.rows, ofHour: 'sum' }]}
      />
      <CountedBy of={of} series={of.requests} />
      <p class="hint">
        The service counts in windows that begin with a request, so that {window} across two of them may
        contain more than the limit.
      </p>
    </>
  );
}
