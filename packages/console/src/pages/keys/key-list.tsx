/** All keys: their rights, whether they are valid, and their use. */
import { useState } from 'preact/hooks';
import { change, link, query } from '../../app/route.ts';
import { Check } from '../../parts/choices.tsx';
import { counted, day, span, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { Pager, placeIn } from '../../parts/pager.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table, type TableColumn } from '../../parts/table.tsx';
import { useTyped } from '../../parts/typed.ts';
import { useEvery } from '../../parts/use-every.ts';
import { useAnswer } from '../../parts/use-loaded.ts';
import { type AllKeys, isFound, type Key, shownName, stateOf } from './key-facts.ts';
import { AgainstLimit, LastSweep, LastWindow, State, Systems } from './key-parts.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';

export function KeyList() {
  const [asked, again] = useAnswer<AllKeys>('/keys');
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key>();
  useEvery(30, again);
  const showsAll = query.value.get('show') === 'all';
  return (
    <>
      <div class="keys-head">
        <h1>Keys</h1>
        <button type="button" onClick={() => setMaking(true)}>
          New key
        </button>
      </div>
      <Shown of={asked} again={again} what="the keys">
        {({ body }) => (
          <>
            <Listed all={body} showsAll={showsAll} revoke={setRevoked} />
            <SameAsAdmin path="/keys" table={{ name: 'keys', rows: () => body.keys.map(rowOf) }} />
          </>
        )}
      </Shown>
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
        <Check
          class="keys-all"
          isOn={showsAll}
          set={(all) => change({ show: all ? 'all' : undefined }, true)}
        >
          Also revoked and expired ones ({whole(ended)})
        </Check>
      </search>
      {shown.length === 0 && search.trim() !== '' ? (
        <Empty title="No key has this in its name, role or systems" />
      ) : shown.length === 0 ? (
        <Empty title="No key is valid">
          <p>Make one for each website, app or vendor that may read listings.</p>
        </Empty>
      ) : (
        <Table
          label="Keys, a table"
          class="keys"
          rows={shown}
          keyOf={({ id }) => id}
          columns={columnsOf(limits, revoke)}
        />
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

const columnsOf = (limits: AllKeys['limits'], revoke: ListedProps['revoke']): TableColumn<Key>[] => [
  {
    title: 'Name',
    // Several keys may have the same name; their links and buttons must not.
    cell: (of) => (
      <a href={link(['keys', of.id])}>
        {shownName(of)} <span class="below mono">{of.id}</span>
      </a>
    ),
  },
  { title: 'State', cell: (of) => <State of={of} /> },
  {
    title: 'Kind and role',
    cell: ({ kind, role }) => (
      <>
        {kind}
        <span class="below">{role}</span>
      </>
    ),
  },
  { title: 'Systems', class: 'wraps', cell: (of) => <Systems of={of} /> },
  {
    title: 'Created, expires',
    cell: ({ createdAt, expiresAt }) => (
      <>
        <Moment at={createdAt} />
        <span class="below">{expiresAt === null ? 'Never expires' : `Until ${day(expiresAt)}`}</span>
      </>
    ),
  },
  {
    title: 'Last request',
    cell: ({ use: { lastRequestAt, requests } }) => (
      <>
        <Moment at={lastRequestAt} none="Never" />
        <span class="below">{counted(requests, 'request')}</span>
      </>
    ),
  },
  { title: 'Last window', cell: (of) => <LastWindow of={of} /> },
  { title: 'Last full sweep', cell: (of) => <LastSweep of={of} /> },
  {
    title: 'Use of limit',
    cell: (of) => (
      <>
        <AgainstLimit of={of} limit={limits[of.kind]} />
        <span class="below">in {span(limits[of.kind].seconds)}</span>
      </>
    ),
  },
  {
    title: 'Revoke',
    head: <span class="visually-hidden">Revoke</span>,
    cell: (of) =>
      stateOf(of) === 'revoked' ? null : (
        <button type="button" class="quiet danger" onClick={() => revoke(of)}>
          Revoke
          <span class="visually-hidden">
            {' '}
            {shownName(of)} {of.id}
          </span>
        </button>
      ),
  },
];
