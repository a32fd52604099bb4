/** The current view as a request: its address and command, its duration, and its records as files. */
import type { About } from '../../app/api.ts';
import { Copy } from '../../parts/copy.tsx';
import { csvOf } from '../../parts/csv.ts';
import { Fact } from '../../parts/fact.tsx';
import { commandOf } from '../../parts/same-as-request.tsx';
import { save } from '../../parts/save.ts';
import { Timing } from '../../parts/timing.tsx';
import { hereFor, publicAddress } from './request.ts';
import type { Rows } from './rows.ts';
import { namesIn, type View } from './view.ts';

interface RequestProps {
  readonly view: View;
  readonly about: About;
  /** The path on its surface. */
  readonly path: string;
  readonly rows: Rows;
  readonly columns: readonly string[];
}

export function RequestPart({ view, about, path, rows, columns }: RequestProps) {
  const url = publicAddress(view, about, path);
  const curl = commandOf(url);
  const latest = rows.latest.value;
  const held = rows.version.value > 0 ? rows.held : 0;
  const names = [...new Set([...columns, ...namesIn(view.expand)])];
  return (
    <section class="request card" aria-labelledby="request">
      <h2 id="request">The same as a request</h2>
      <dl class="addresses">
        <Shown title="URL" text={url} what="the URL" />
        <Shown title="curl" text={curl} what="the command" />
      </dl>
      <p class="hint">
        Put the token of a key {view.as.startsWith('role/') ? `of the role ${view.as.slice(5)} ` : ''}in place
        of <code>$TOKEN</code>.
      </p>
      <div class="buttons">
        <a class="button" href={hereFor(view, path)} target="_blank" rel="noreferrer">
          JSON of the first page
        </a>
        <button
          type="button"
          class="quiet"
          disabled={held === 0}
          onClick={() => save(`${view.resource}.csv`, 'text/csv;charset=utf-8', csvOf(names, rows.loaded()))}
        >
          CSV of the {held.toLocaleString('en-US')} records loaded
        </button>
      </div>
      {latest === undefined ? null : (
        <>
          <h3>Time of the last answer</h3>
          <Timing header={latest.headers.get('server-timing') ?? ''} took={latest.took} />
        </>
      )}
    </section>
  );
}

const Shown = ({
  title,
  text,
  what,
}: {
  readonly title: string;
  readonly text: string;
  readonly what: string;
}) => (
  <Fact name={title}>
    <code>{text}</code>
    <Copy text={text} what={what} />
  </Fact>
);
