/** The store: its size, and the records of each resource (GET /status). It is requested only once, because counting takes time. */
import { counted, moment, size, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';

interface Status {
  readonly store: string;
  readonly engine: string;
  readonly owner: string;
  readonly bytes: number;
  readonly lastStamp: string;
  readonly resources: readonly {
    readonly resource: string;
    readonly rows: number;
    readonly lastModification: string | null;
    readonly deleted: number;
    readonly orphans: number;
  }[];
  readonly danglingLinks: readonly {
    readonly link: string;
    readonly keys: number;
    readonly listings: number;
  }[];
}

const ENGINES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function StorePart() {
  const [asked, again] = useAnswer<Status>('/status');
  const answer = latestOf(asked);
  return (
    <section aria-labelledby="store">
      <div class="row">
        <h2 id="store">Store</h2>
        {answer === undefined ? null : (
          <button type="button" class="quiet count-again" disabled={asked.kind === 'loading'} onClick={again}>
            Count again
          </button>
        )}
      </div>
      {asked.kind === 'failed' ? <Problem error={asked.error} again={again} /> : null}
      {answer === undefined ? (
        asked.kind === 'loading' && <Loading what="the counts of the store" />
      ) : (
        <>
          <Shown of={answer.body} />
          <SameAsAdmin
            of="The store"
            path="/status"
            table={{ name: 'store', rows: () => answer.body.resources.map((each) => ({ ...each })) }}
          />
        </>
      )}
    </section>
  );
}

function Shown({ of }: { readonly of: Status }) {
  const orphans = of.resources.reduce((sum, each) => sum + each.orphans, 0);
  return (
    <>
      <dl class="numbers card">
        <div>
          <dt>Size</dt>
          <dd>{size(of.bytes)}</dd>
        </div>
        <div>
          <dt>Engine</dt>
          <dd>{ENGINES[of.engine] ?? of.engine}</dd>
        </div>
        <div>
          <dt>Holds</dt>
          <dd>{of.owner === 'authority' ? 'The original records' : 'A copy of another feed'}</dd>
        </div>
        <div>
          <dt>Last timestamp</dt>
          <dd>{Number.isNaN(Date.parse(of.lastStamp)) ? '–' : moment(of.lastStamp)}</dd>
        </div>
      </dl>
      <ScrollBox label="Resources, a table">
        <table>
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col" class="number">
                Records
              </th>
              <th scope="col" class="number">
                Deleted
              </th>
              {orphans === 0 ? null : (
                <th scope="col" class="number">
                  Without a listing
                </th>
              )}
              <th scope="col">Last change</th>
            </tr>
          </thead>
          <tbody>
            {of.resources.map((each) => (
              <tr key={each.resource}>
                <th scope="row">{each.resource}</th>
                <td class="number">{whole(each.rows)}</td>
                <td class="number">{whole(each.deleted)}</td>
                {orphans === 0 ? null : <td class="number">{whole(each.orphans)}</td>}
                <td>
                  <Moment at={each.lastModification} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {of.danglingLinks.map(({ link, keys, listings }) => (
        <p key={link} class="hint">
          {counted(keys, 'value')} of {link} in {counted(listings, 'listing')} {keys === 1 ? 'names' : 'name'}{' '}
          no record that is stored.
        </p>
      ))}
    </>
  );
}
