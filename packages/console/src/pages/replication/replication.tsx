/**
 * Replication: what the copies of a replica are doing and did in the last day, and which keys are walking through the data of this
 * service.
 */
import { change, query } from '../../app/route.ts';
import { Select } from '../../parts/choices.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { rowsOf, useReport } from './report.ts';
import { SourceView } from './source.tsx';
import { WalksView } from './walks.tsx';
import './replication.css';

const HOUR = 3_600_000;

/** The spans of the time line, by their name in the address. */
const SPANS: Readonly<Record<string, { readonly title: string; readonly length: number }>> = {
  day: { title: 'last day', length: 24 * HOUR },
  '6h': { title: 'last 6 hours', length: 6 * HOUR },
  '1h': { title: 'last hour', length: HOUR },
};

export function Replication() {
  const [reported, again] = useReport();
  const chosen = query.value.get('span') ?? 'day';
  const { length } = SPANS[chosen] ?? { length: 24 * HOUR };
  return (
    <div class="replication">
      <div class="row head">
        <h1>Replication</h1>
        <label class="row">
          Time lines show the
          <Select
            value={chosen in SPANS ? chosen : 'day'}
            choose={(span) => change({ span: span === 'day' ? undefined : span }, true)}
            options={Object.entries(SPANS).map(([name, { title }]) => [name, title])}
          />
        </label>
      </div>
      {reported.kind === 'loading' ? (
        <Loading what="replication" />
      ) : reported.kind === 'failed' ? (
        <Problem error={reported.error} again={again} />
      ) : (
        <>
          {reported.report.sources.map((source) => (
            <SourceView
              key={source.source}
              source={source}
              at={reported.report.at}
              length={length}
              again={again}
            />
          ))}
          {reported.report.sources.length + reported.report.walks.length === 0 ? (
            <Empty title="Nothing is replicated here yet">
              <p>
                This store is not a copy of another one, and no key has walked through its records since the
                service started. Walks of keys of the kind replication appear here.
              </p>
            </Empty>
          ) : (
            <WalksView walks={reported.report.walks} at={reported.report.at} length={length} />
          )}
          <SameAsAdmin
            path="/replication"
            table={{ name: 'replication', rows: () => rowsOf(reported.report) }}
          />
        </>
      )}
    </div>
  );
}
