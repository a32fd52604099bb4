/** What the list of keys and the page of one key have in common. */
import { moment, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { type Key, type Limit, stateOf, sweepOf } from './key-facts.ts';

const STATES = {
  valid: { words: 'Valid', tone: 'good' },
  expired: { words: 'Expired', tone: 'warn' },
  revoked: { words: 'Revoked', tone: 'bad' },
} as const;

export function State({ of }: { readonly of: Key }) {
  const { words, tone } = STATES[stateOf(of)];
  return <span class={`badge ${tone}`}>{words}</span>;
}

/** The time of the last sweep of all listings, and whether the vendor purges daily. */
export function LastSweep({ of }: { readonly of: Key }) {
  const sweep = sweepOf(of);
  if (sweep === 'none') return <span class="hint">–</span>;
  return (
    <>
      <Moment at={of.use.lastSweepAt} none="" />{' '}
      {sweep === 'daily' ? (
        <span class="badge good">Purges daily</span>
      ) : (
        <span class="badge warn">{sweep === 'late' ? 'Not daily' : 'Never swept'}</span>
      )}
    </>
  );
}

export function LastWindow({ of: { use } }: { readonly of: Key }) {
  if (use.lastWindow === null) return <span class="hint">–</span>;
  return (
    <>
      {use.lastWindow.split('/').map((end, at) => (
        <span key={end} class="window-end">
          {at === 0 ? 'from ' : 'to '}
          {Number.isNaN(Date.parse(end)) ? '…' : moment(end)}
        </span>
      ))}
    </>
  );
}

/** The busiest window of the last day compared with the limit. */
export function AgainstLimit({ of, limit }: { readonly of: Key; readonly limit: Limit }) {
  const { busiest, limited } = of.lastDay;
  return (
    <span class="against">
      {whole(busiest)} of {whole(limit.requests)}
      <meter min={0} max={limit.requests} value={busiest} high={limit.requests * 0.8} aria-hidden="true" />
      {limited === 0 ? null : <span class="badge bad">{whole(limited)} refused</span>}
    </span>
  );
}

export const Systems = ({ of: { systems } }: { readonly of: Key }) =>
  systems.length === 0 ? <span class="hint">All</span> : <span>{systems.join(', ')}</span>;
