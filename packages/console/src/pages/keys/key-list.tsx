/** All keys: their rights, whether they are valid, and their use. */
import { useState } from 'preact/hooks';
import { change, link, query } from '../../app/route.ts';
import { counted, day, span, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { Pager, placeIn } from '../../parts/pager.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useTyped } from '../../parts/typed.ts';
import { useEvery } from '../../parts/use-every.ts';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';
import { type AllKeys, isFound, type Key, type Limit, shownName, stateOf } from './key-facts.ts';
import { AgainstLimit, LastSweep, LastWindow, State, Systems } from './key-parts.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';

export function KeyList() {
  const [asked, again] = useAnswer<AllKeys>('/keys');
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key>();
  useEvery(30, again);
  const answer = latestOf(asked);
  const showsAll = query.value.get('show') === 'all';
  return (
    <>
      <div class="keys-head">
        <h1>Keys</h1>
        <button type="button" onClick={() => setMaking(true)}>
          New key
        </button>
      </div>
      {asked.kind === 'failed' ? <Problem error={asked.error} again={again} /> : null}
      {answer === undefined ? (
        asked.kind === 'loading' && <Loading what="the keys" />
      ) : (
        <>
          <Listed all={answer.body} showsAll={showsAll} revoke={setRevoked} />
          <SameAsAdmin path="/keys" table={{ name: 'keys', rows: () => answer.body.keys.map(rowOf) }} />
        </>
      )}
      {isMaking ? (
        <NewKey
          close={() => {
            setMaking(false);
            again();
          }}
        />
      ) : null}
      {revoked === undefined ? null : (
        <RevokeKey
          of={revoked}
          close={() => {
            setRevoked(undefined);
            again();
          }}
        />
      )}
    </>
  );
}

/** A key, for a file. */
const rowOf = ({ systems, use, lastDay, ...key }: Key) => ({
  ...key,
  systems: systems.join(' '),
  ...use,
  ...{ dayRequests: lastDay.requests, dayRows: lastDay.rows, dayBytes: lastDay.bytes },
  ...{ dayBusiest: lastDay.busiest, dayLimited: lastDay.limited },
});

interface ListedProps {
  readonly all: AllKeys;
  /** Whether keys that are no longer valid are shown. */
  readonly showsAll: boolean;
  readonly revoke: (key: Key) => void;
}

/** The number of keys on a page. */
const SIZE = 50;

function Listed({ all: { keys, limits }, showsAll, revoke }: ListedProps) {
  const [search, setSearch] = useTyped('q');
  const ended = keys.filter((key) => stateOf(key) !== 'valid').length;
  const found = keys
    .filter((key) => (showsAll || stateOf(key) === 'valid') && isFound(key, search))
    .toReversed();
  // A narrower search may have fewer pages; it then starts at the first one.
  const place = placeIn('from');
  const from = place < found.length ? place : 0;
  const shown = found.slice(from, from + SIZE);
  return (
    <>
      <search class="row keys-asks">
        <label>
          Find a key{' '}
          <input
            type="search"
            value={search}
            placeholder="name, role, system …"
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <output class="hint">
          {search.trim() === ''
            ? counted(keys.length - ended, 'valid key')
            : `${counted(found.length, 'key')} found`}
        </output>
        <label class="keys-all">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={() => change({ show: showsAll ? undefined : 'all' }, true)}
          />
          Also revoked and expired ones ({whole(ended)})
        </label>
      </search>
      {shown.length === 0 && search.trim() !== '' ? (
        <Empty title="No key has this in its name, role or systems" />
      ) : shown.length === 0 ? (
        <Empty title="No key is valid">
          <p>Make one for each website, app or vendor that may read listings.</p>
        </Empty>
      ) : (
        <ScrollBox label="Keys, a table">
          <table class="keys">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Kind and role</th>
                <th scope="col">Systems</th>
                <th scope="col">Created, expires</th>
                <th scope="col">Last request</th>
                <th scope="col">Last window</th>
                <th scope="col">Last full sweep</th>
                <th scope="col">Use of limit</th>
                <th scope="col">
                  <span class="visually-hidden">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((key) => (
                <Row key={key.id} of={key} limit={limits[key.kind]} revoke={revoke} />
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
      <Pager
        label="More keys"
        from={from}
        size={SIZE}
        total={found.length}
        go={(to) => change({ from: to })}
      />
      <p class="hint">
        A window is the span of changes that a vendor last asked for. A full sweep is a walk over the keys of
        all listings, by which a vendor finds out what to remove: once a day, if it purges as it should. The
        use of the limit is that of the busiest time of the last day, of all processes of the service.
      </p>
    </>
  );
}

function Row({
  of,
  limit,
  revoke,
}: {
  readonly of: Key;
  readonly limit: Limit;
  readonly revoke: (key: Key) => void;
}) {
  return (
    <tr>
      <th scope="row">
        {/* Several keys may have the same name; their links and buttons must not. */}
        <a href={link(['keys', of.id])}>
          {shownName(of)} <span class="below mono">{of.id}</span>
        </a>
      </th>
      <td>
        <State of={of} />
      </td>
      <td>
        {of.kind}
        <span class="below">{of.role}</span>
      </td>
      <td class="wraps">
        <Systems of={of} />
      </td>
      <td>
        <Moment at={of.createdAt} />
        <span class="below">{of.expiresAt === null ? 'Never expires' : `Until ${day(of.expiresAt)}`}</span>
      </td>
      <td>
        <Moment at={of.use.lastRequestAt} none="Never" />
        <span class="below">{counted(of.use.requests, 'request')}</span>
      </td>
      <td>
        <LastWindow of={of} />
      </td>
      <td>
        <LastSweep of={of} />
      </td>
      <td>
        <AgainstLimit of={of} limit={limit} />
        <span class="below">in {span(limit.seconds)}</span>
      </td>
      <td>
        {stateOf(of) === 'revoked' ? null : (
          <button type="button" class="quiet danger" onClick={() => revoke(of)}>
            Revoke
            <span class="visually-hidden">
              {' '}
              {shownName(of)} {of.id}
            </span>
          </button>
        )}
      </td>
    </tr>
  );
}
