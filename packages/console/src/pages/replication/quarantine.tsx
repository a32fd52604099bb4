/** Records that could not be stored: the reasons, what was received, and retries. */

import { useState } from 'preact/hooks';
import { post } from '../../app/api.ts';
import { change } from '../../app/route.ts';
import { counted, whole } from '../../parts/figures.ts';
import { Pager, placeIn } from '../../parts/pager.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';
import { ago } from './words.ts';

interface Entry {
  readonly resource: string;
  readonly key: string;
  readonly reason: string;
  readonly payload: string;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly attempts: number;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly total: number;
}

interface Retried {
  readonly stored: number;
  readonly wanted: number;
  readonly gone: number;
  readonly still: readonly { readonly reason: string }[];
}

const SIZE = 20;

interface QuarantineProps {
  readonly source: string;
  /** The number of entries; a change triggers a new request. */
  readonly quarantined: number;
  readonly now: number;
  readonly again: () => void;
}

/** The result of a retry, in a sentence. */
function resultText({ stored, wanted, gone, still }: Retried): string {
  const parts = [
    ...(wanted > 0 ? [`${counted(wanted, 'record')} will be requested with the next update`] : []),
    ...(stored > 0 ? [`${whole(stored)} stored`] : []),
    ...(gone > 0 ? [`${whole(gone)} gone at the source`] : []),
    ...(still.length > 0
      ? [
          `${whole(still.length)} ${still.length === 1 ? 'stays' : 'stay'} in quarantine: ${still[0]?.reason ?? ''}`,
        ]
      : []),
  ];
  return parts.length === 0 ? 'There was nothing to retry.' : `${parts.join('; ')}.`;
}

export function Quarantine({ source, quarantined, now, again }: QuarantineProps) {
  const name = `quarantine-${source}`;
  const skip = placeIn(name);
  const [result, setResult] = useState('');
  const [isBusy, setBusy] = useState(false);
  // A change of the number of entries, or a retry, requires a new request.
  const [turn, setTurn] = useState(0);
  const path = `/replication/quarantine?source=${encodeURIComponent(source)}&skip=${skip}&limit=${SIZE}&n=${quarantined}.${turn}`;
  const [asked, retryAsk] = useAnswer<Page>(quarantined === 0 ? undefined : path);
  const retry = async (only?: Entry): Promise<void> => {
    setBusy(true);
    try {
      const one = only === undefined ? {} : { resource: only.resource, key: only.key };
      const { body } = await post<Retried>('/replication/quarantine/retry', { source, ...one });
      setResult(resultText(body));
    } catch (error) {
      setResult(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
    setTurn((before) => before + 1);
    again();
  };
  const page = latestOf(asked)?.body;
  return (
    <section aria-labelledby={name}>
      <div class="row">
        <h3 id={name}>Quarantine</h3>
        {quarantined === 0 ? null : (
          <button type="button" class="quiet" disabled={isBusy} onClick={() => void retry()}>
            Retry all {whole(quarantined)}
          </button>
        )}
      </div>
      <output class="result">{result}</output>
      {quarantined === 0 ? (
        <p class="hint">All received records could be stored.</p>
      ) : asked.kind === 'failed' ? (
        <Problem error={asked.error} again={retryAsk} />
      ) : page === undefined ? (
        <Loading what="the quarantine" />
      ) : (
        <>
          <ul class="entries">
            {page.entries.map((entry) => (
              <li key={`${entry.resource} ${entry.key}`}>
                <EntryView entry={entry} now={now} isBusy={isBusy} retry={() => void retry(entry)} />
              </li>
            ))}
          </ul>
          <Pager
            label={`More of the quarantine of ${source}`}
            from={skip}
            size={SIZE}
            total={page.total}
            go={(to) => change({ [name]: to })}
          />
        </>
      )}
    </section>
  );
}

function EntryView({
  entry,
  now,
  isBusy,
  retry,
}: {
  readonly entry: Entry;
  readonly now: number;
  readonly isBusy: boolean;
  readonly retry: () => void;
}) {
  const { resource, key, reason, payload, firstAt, attempts } = entry;
  return (
    <>
      <div class="row entry-head">
        <strong class="entry-name">
          {resource} {key}
        </strong>
        <span class="hint">
          since {ago(firstAt, now)}, {counted(attempts, 'attempt')}
        </span>
        <button
          type="button"
          class="quiet"
          disabled={isBusy}
          aria-label={`Try again: ${resource} ${key}`}
          onClick={retry}
        >
          Try again
        </button>
      </div>
      <p class="reason">{reason}</p>
      <details>
        <summary>Received data</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys */}
        <pre tabIndex={0}>{pretty(payload)}</pre>
      </details>
    </>
  );
}

/** Formats JSON over several lines; other text is unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
