/** The last day of each surface: requests, errors and durations, and one of the surfaces minute by minute. */
import { useMemo } from 'preact/hooks';
import { link, query } from '../../app/route.ts';
import { Chart } from '../../parts/chart.tsx';
import { CountedBy, highest, sum } from '../../parts/counted-by.tsx';
import { counted, duration, whole } from '../../parts/figures.ts';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useEvery } from '../../parts/use-every.ts';
import { useAnswer } from '../../parts/use-loaded.ts';
import { type History, SURFACES, type Surface, typical } from './surfaces.ts';

const MINUTE = 60_000;

export function SurfacesPart() {
  const [asked, again] = useAnswer<History>('/history');
  useEvery(60, again);
  const named = query.value.get('surface');
  const chosen = SURFACES.find(({ name }) => name === named)?.name ?? 'api';
  return (
    <section aria-labelledby="last-day">
      <h2 id="last-day">The last day</h2>
      <Shown of={asked} again={again} what="the last day">
        {({ body }) => (
          <>
            <Overview of={body} chosen={chosen} />
            <Minutes of={body} surface={chosen} />
            <SameAsAdmin
              of="The last day"
              path="/history"
              table={{ name: 'last-day', rows: () => minutesOf(body) }}
            />
          </>
        )}
      </Shown>
    </section>
  );
}

/** The minutes of every surface, for a file. */
const minutesOf = ({ from, surfaces }: History) =>
  SURFACES.flatMap(({ name }) => {
    const { requests, refused, failed, half, most } = surfaces[name];
    return requests.map((amount, at) => ({
      ...{ surface: name, minute: new Date(from + at * MINUTE).toISOString() },
      ...{ requests: amount, refused: refused[at], failed: failed[at] },
      ...{ halfWithin: half[at], mostWithin: most[at] },
    }));
  });

function Overview({ of, chosen }: { readonly of: History; readonly chosen: Surface }) {
  const { surfaces } = of;
  const time = (at: number | undefined) => (at === undefined ? '–' : duration(at));
  return (
    <>
      <Table
        label="Surfaces, a table"
        rows={SURFACES.map((each) => ({ ...each, ...surfaces[each.name] }))}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Surface',
            cell: ({ name, title }) => (
              <a
                href={link(['health'], { surface: name })}
                aria-current={name === chosen ? 'true' : undefined}
              >
                {title}
              </a>
            ),
          },
          { title: 'Requests', isNumber: true, cell: ({ requests }) => whole(sum(requests)) },
          { title: 'Refused', isNumber: true, cell: ({ refused }) => whole(sum(refused)) },
          { title: 'Failed', isNumber: true, cell: ({ failed }) => <Failed count={sum(failed)} /> },
          { title: 'Half within', isNumber: true, cell: ({ half }) => time(typical(half)) },
          { title: '95% within', isNumber: true, cell: ({ most }) => time(typical(most)) },
        ]}
      />
      <p class="hint">
        Times are those of a typical minute, rounded up to 1, 2, 4, 8 ms and so on. Refused: the client must
        ask differently (400 to 499). Failed: the service could not answer (500 and above).
      </p>
      <CountedBy of={of} series={surfaces[chosen].requests} />
    </>
  );
}

const Failed = ({ count }: { readonly count: number }) =>
  count > 0 ? <span class="problem">{whole(count)}</span> : <>0</>;

function Minutes({ of, surface }: { readonly of: History; readonly surface: Surface }) {
  const { requests, refused, failed, half, most } = of.surfaces[surface];
  const title = SURFACES.find(({ name }) => name === surface)?.title ?? surface;
  const times = useMemo(() => requests.map((_, at) => of.from + at * MINUTE), [of, surface]);
  const busiest = highest(requests);
  const slowest = highest(most);
  const errors = sum(refused) + sum(failed);
  return (
    <div class="charts">
      <Chart
        title={`${title}: requests per minute`}
        summary={`${counted(sum(requests), 'request')}, at most ${whole(busiest)} in a minute`}
        times={times}
        lines={[{ name: 'Requests', tone: 'accent', values: requests, ofHour: 'sum' }]}
      />
      <Chart
        title={`${title}: time to answer`}
        summary={slowest === 0 ? 'No request yet' : `In the slowest minute, 95% within ${duration(slowest)}`}
        times={times}
        lines={[
          { name: 'Half within', tone: 'accent', values: half, ofHour: 'most' },
          { name: '95% within', tone: 'warn', values: most, ofHour: 'most' },
        ]}
        show={duration}
      />
      <Chart
        title={`${title}: errors per minute`}
        summary={errors === 0 ? 'None' : `${whole(sum(refused))} refused, ${whole(sum(failed))} failed`}
        times={times}
        lines={[
          { name: 'Refused', tone: 'warn', values: refused, ofHour: 'sum' },
          { name: 'Failed', tone: 'bad', values: failed, ofHour: 'sum' },
        ]}
      />
    </div>
  );
}
