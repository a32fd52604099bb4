/** The store: its size, and the records of each resource (GET /status). It is requested only once, because counting takes time. */
import { Fact } from '../../parts/fact.tsx';
import { counted, moment, size, whole } from '../../parts/figures.ts';
import { Moment } from '../../parts/moment.tsx';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table, type TableColumn } from '../../parts/table.tsx';
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

const WITHOUT_LISTING: TableColumn<Status['resources'][number]> = {
  ...{ title: 'Without a listing', isNumber: true, cell: ({ orphans }) => whole(orphans) },
};

export function StorePart() {
  const [asked, again] = useAnswer<Status>('/status');
  return (
    <section aria-labelledby="store">
      <div class="row">
        <h2 id="store">Store</h2>
        {latestOf(asked) === undefined ? null : (
          <button type="button" class="quiet count-again" disabled={asked.kind === 'loading'} onClick={again}>
            Count again
          </button>
        )}
      </div>
      <Shown of={asked} again={again} what="the counts of the store">
        {({ body }) => (
          <>
            <Content of={body} />
            <SameAsAdmin
              of="The store"
              path="/status"
              table={{ name: 'store', rows: () => body.resources.map((each) => ({ ...each })) }}
            />
          </>
        )}
      </Shown>
    </section>
  );
}

function Content({ of }: { readonly of: Status }) {
  const orphans = of.resources.reduce((sum, each) => sum + each.orphans, 0);
  return (
    <>
      <dl class="numbers card">
        <Fact name="Size">{size(of.bytes)}</Fact>
        <Fact name="Engine">{ENGINES[of.engine] ?? of.engine}</Fact>
        <Fact name="Holds">
          {of.owner === 'authority' ? 'The original records' : 'A copy of another feed'}
        </Fact>
        <Fact name="Last timestamp">
          {Number.isNaN(Date.parse(of.lastStamp)) ? '–' : moment(of.lastStamp)}
        </Fact>
      </dl>
      <Table
        label="Resources, a table"
        rows={of.resources}
        keyOf={({ resource }) => resource}
        columns={[
          { title: 'Resource', cell: ({ resource }) => resource },
          { title: 'Records', isNumber: true, cell: ({ rows }) => whole(rows) },
          { title: 'Deleted', isNumber: true, cell: ({ deleted }) => whole(deleted) },
          ...(orphans === 0 ? [] : [WITHOUT_LISTING]),
          { title: 'Last change', cell: ({ lastModification }) => <Moment at={lastModification} /> },
        ]}
      />
      {of.danglingLinks.map(({ link, keys, listings }) => (
        <p key={link} class="hint">
          {counted(keys, 'value')} of {link} in {counted(listings, 'listing')} {keys === 1 ? 'names' : 'name'}{' '}
          no record that is stored.
        </p>
      ))}
    </>
  );
}
