/** The process: its memory and load, the cached lists of filters, and its caches (GET /figures). */
import { Fact } from '../../parts/fact.tsx';
import { ago, duration, size, whole } from '../../parts/figures.ts';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useEvery } from '../../parts/use-every.ts';
import { useAnswer } from '../../parts/use-loaded.ts';

interface Figures {
  readonly figures: readonly {
    readonly name: string;
    readonly values: readonly {
      readonly name: string;
      readonly labels: Readonly<Record<string, string | number>>;
      readonly value: number;
    }[];
  }[];
}

/** Metrics without labels, with titles for people. */
const NAMED: readonly {
  readonly name: string;
  readonly title: string;
  readonly show: (value: number) => string;
}[] = [
  { name: 'process_start_time_seconds', title: 'Started', show: (at) => ago(at * 1000) },
  { name: 'process_resident_memory_bytes', title: 'Memory', show: size },
  {
    name: 'nodejs_eventloop_lag_p99_seconds',
    title: 'Event loop delay (99th percentile)',
    show: (at) => duration(at * 1000),
  },
  { name: 'plat_requests_running', title: 'Requests being answered', show: whole },
  { name: 'plat_requests_waiting', title: 'Queued requests', show: whole },
  { name: 'plat_answer_bytes_waiting', title: 'Responses that clients have not read yet', show: size },
  { name: 'plat_connections', title: 'Open connections', show: whole },
  { name: 'plat_budget_refusals_total', title: 'Requests that exceeded a budget', show: whole },
  { name: 'plat_filter_indexes', title: 'Cached filter results', show: whole },
  { name: 'plat_filter_index_bytes', title: 'Memory of cached filter results', show: size },
];

export function ProcessPart() {
  const [asked, again] = useAnswer<Figures>('/figures');
  useEvery(15, again);
  return (
    <section aria-labelledby="process">
      <h2 id="process">Process and caches</h2>
      <Shown of={asked} again={again} what="figures of the process">
        {({ body }) => (
          <>
            <Content of={body} />
            <SameAsAdmin
              of="The figures of the process"
              path="/figures"
              table={{ name: 'figures', rows: () => valuesOf(body) }}
            />
          </>
        )}
      </Shown>
    </section>
  );
}

/** All metrics, for a file. */
const valuesOf = ({ figures }: Figures) =>
  figures.flatMap(({ values }) => values.map(({ name, labels, value }) => ({ name, labels, value })));

function Content({ of: { figures } }: { readonly of: Figures }) {
  const valuesOf = (wanted: string) => figures.find(({ name }) => name === wanted)?.values ?? [];
  const entries = new Map(valuesOf('plat_cache_entries').map(({ labels, value }) => [labels.cache, value]));
  const pages = new Map(
    valuesOf('plat_filter_index_pages_total').map(({ labels, value }) => [labels.index, value]),
  );
  const [kept, made] = [pages.get('cached') ?? 0, pages.get('fresh') ?? 0];
  const all = valuesOf('plat_cache_bytes');
  const caches = all.filter(({ value }) => value > 0).toSorted((a, b) => b.value - a.value);
  const empty = all.filter(({ value }) => value === 0).map(({ labels }) => labels.cache);
  return (
    <>
      <dl class="numbers card">
        {NAMED.map(({ name, title, show }) => (
          <Fact key={name} name={title}>
            {show(valuesOf(name).reduce((total, { value }) => total + value, 0))}
          </Fact>
        ))}
        <Fact name="Pages from cached filter results">
          {kept + made === 0 ? '–' : `${whole((100 * kept) / (kept + made))}% of ${whole(kept + made)}`}
        </Fact>
      </dl>
      <h3>Caches</h3>
      <Table
        label="Caches, a table"
        rows={caches}
        keyOf={({ labels }) => String(labels.cache)}
        columns={[
          { title: 'Cache', cell: ({ labels }) => labels.cache },
          { title: 'Entries', isNumber: true, cell: ({ labels }) => whole(entries.get(labels.cache) ?? 0) },
          { title: 'Memory', isNumber: true, cell: ({ value }) => size(value) },
        ]}
      />
      {empty.length === 0 ? null : <p class="hint">Empty: {empty.join(', ')}</p>}
    </>
  );
}
