/** Every key: what it may do, whether it still works, and what its holder does with it. */
import { useState } from 'preact/hooks';
import { change, link, query } from '../../app/route.ts';
import { counted, day, span, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { useEvery } from '../../parts/use-every.ts';
import { type AllKeys, type Key, type Limit, stateOf } from './key-facts.ts';
import { AgainstLimit, LastSweep, LastWindow, State, Systems } from './key-parts.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';

export function KeyList() {
  const [asked, again] = useAnswer<AllKeys>('/keys');
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key>();
  useEvery(30, again);
  const answer =
    asked.kind === 'answered' ? asked.answer : asked.kind === 'loading' ? asked.before : undefined;
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
        <Listed all={answer.body} showsAll={showsAll} revoke={setRevoked} />
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

interface ListedProps {
  readonly all: AllKeys;
  /** Whether keys are shown that no longer work. */
  readonly showsAll: boolean;
  readonly revoke: (key: Key) => void;
}

function Listed({ all: { keys, limits }, showsAll, revoke }: ListedProps) {
  const ended = keys.filter((key) => stateOf(key) !== 'valid').length;
  const shown = keys.filter((key) => showsAll || stateOf(key) === 'valid').toReversed();
  return (
    <>
      <p class="row">
        <span>{counted(keys.length - ended, 'valid key')}</span>
        <label class="keys-all">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={() => change({ show: showsAll ? undefined : 'all' }, true)}
          />
          Also revoked and expired ones ({whole(ended)})
        </label>
      </p>
      {shown.length === 0 ? (
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
      <p class="hint">
        A window is the span of changes that a vendor last asked for. A full sweep is a walk over the keys of
        all listings, by which a vendor finds out what to remove: once a day, if it purges as it should. The
        use of the limit is that of the busiest time of the last day, as far as this process saw it.
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
        <a href={link(['keys', of.id])}>{of.name}</a>
        <span class="below mono">{of.id}</span>
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
            Revoke<span class="visually-hidden"> {of.name}</span>
          </button>
        )}
      </td>
    </tr>
  );
}
