/** The records of a view: their number, the columns and order, and the request that returned them. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo } from 'preact/hooks';
import { type About, Refused } from '../../app/api.ts';
import { change } from '../../app/route.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { lazily } from '../../parts/lazily.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { cellsOf, isNumber, listingOf, widthOf } from './cell.tsx';
import { FacetsPart } from './facets-part.tsx';
import { orderedBy, orderOf, orderText } from './order.ts';
import { columnsOf, hereFor, pageOf, pageSize, pathOf, rootOf } from './request.ts';
import { RequestPart } from './request-part.tsx';
import { Rows } from './rows.ts';
import type { FieldInfo, ResourceInfo, Schema } from './schema.ts';
import { ShapePart } from './shape-part.tsx';
import { namesIn, type View } from './view.ts';

/** The map is loaded on demand, with the library that draws it. */
const MapPart = lazily(async () => (await import('./map-part.tsx')).MapPart);

export interface ResultsProps {
  readonly view: View;
  readonly about: About;
  readonly schema: Schema;
  readonly resource: ResourceInfo;
  /** Renders the filter with the service's error about it. */
  readonly filter: (problem: string | undefined) => ComponentChildren;
}

/** The records of a view; another view has other records. */
function useRows(view: View, root: string, columns: readonly string[]): Rows {
  const first = hereFor(view, pathOf(view, root, columns, { skip: 0 }));
  const rows = useMemo(
    () =>
      new Rows({
        size: pageSize(view),
        pathAt: (place) => hereFor(view, pathOf(view, root, columns, place)),
        read: (body, asked) => pageOf(view, body, asked),
      }),
    [first],
  );
  useEffect(() => () => rows.close(), [rows]);
  return rows;
}

/** The service's error about the filter; undefined for other problems. */
const againstFilter = (problem: unknown): string | undefined =>
  problem instanceof Refused && problem.status === 400 && /^[$_]filter\b/.test(problem.message)
    ? problem.message
    : undefined;

export function ResultsPart({ view, about, resource, filter }: ResultsProps) {
  const columns = columnsOf(view, resource);
  const rows = useRows(view, rootOf(view, about), columns);
  const count = rows.count.value;
  const problem = rows.problem.value;
  const faulty = againstFilter(problem);
  const path = pathOf(view, rootOf(view, about), columns, { skip: 0 });
  return (
    <>
      {filter(faulty)}
      <FacetsPart key={`${view.as} ${view.interface} ${view.resource}`} view={view} resource={resource} />
      <ShapePart view={view} resource={resource} columns={columns} />
      <section class="results" aria-labelledby="results">
        <div class="results-head">
          <h2 id="results">Results</h2>
          <output class="count">{count === undefined ? '' : counted(count, resource.name)}</output>
          <Views view={view} />
        </div>
        {problem !== undefined && faulty === undefined ? (
          <Problem error={problem} again={() => rows.again()} />
        ) : null}
        {faulty !== undefined ? (
          <p class="state">The filter has an error, which is marked above.</p>
        ) : count === undefined ? (
          problem === undefined ? (
            <Loading what="records" />
          ) : null
        ) : count === 0 ? (
          <Empty title="Nothing matches">
            <p>
              {view.filter === ''
                ? 'This role or key sees no records here.'
                : 'Remove a condition, or view as another role.'}
            </p>
          </Empty>
        ) : view.shows === 'json' ? (
          <Json body={rows.first?.body} />
        ) : view.shows === 'map' ? (
          <MapPart view={view} about={about} resource={resource} count={count} />
        ) : (
          <Table view={view} resource={resource} rows={rows} columns={columns} count={count} />
        )}
      </section>
      <RequestPart view={view} about={about} path={path} rows={rows} columns={columns} />
    </>
  );
}

/** The first response, unchanged. */
const Json = ({ body }: { readonly body: unknown }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard
  <section class="json" tabIndex={0} aria-label="The first page as JSON">
    <pre>{JSON.stringify(body, null, 2)}</pre>
  </section>
);

const counted = (count: number, resource: string): string => {
  const isListing = resource === 'Property' || resource === 'listings';
  const what = isListing ? (count === 1 ? 'listing' : 'listings') : count === 1 ? 'record' : 'records';
  return `${count.toLocaleString('en-US')} ${what}`;
};

const VIEWS = [
  ['table', 'Table'],
  ['map', 'Map'],
  ['json', 'JSON'],
] as const;

const Views = ({ view }: { readonly view: View }) => (
  <fieldset class="views">
    <legend class="visually-hidden">Show as</legend>
    {VIEWS.map(([name, title]) => (
      <button
        key={name}
        type="button"
        class="quiet"
        aria-pressed={view.shows === name}
        onClick={() => change({ view: name === 'table' ? undefined : name })}
      >
        {title}
      </button>
    ))}
  </fieldset>
);

interface TableProps {
  readonly view: View;
  readonly resource: ResourceInfo;
  readonly rows: Rows;
  readonly columns: readonly string[];
  readonly count: number;
}

function Table({ view, resource, rows, columns, count }: TableProps) {
  const fields = useMemo(() => byName(resource), [resource]);
  const order = orderOf(view.interface, view.order);
  const shown = [...columns, ...namesIn(view.expand).filter((name) => !columns.includes(name))];
  const heads = shown.map((name): Column => {
    const field = fields.get(name);
    const title = field?.label ?? name;
    const own = order.find((each) => each.name === name);
    return {
      name,
      title,
      width: widthOf(field, title, resource.key.includes(name)),
      isNumber: isNumber(field),
      ...(own === undefined ? {} : { sort: own.isDescending ? 'descending' : 'ascending' }),
    };
  });
  // Every page that arrives renders the table again, but nothing around it.
  void rows.version.value;
  const onView = useCallback((from: number, to: number) => rows.want(from, to), [rows]);
  return (
    <DataTable
      label="Records"
      columns={heads}
      count={count}
      onView={onView}
      cellsAt={(index) => {
        const row = rows.at(index);
        return row === undefined
          ? undefined
          : cellsOf(row, shown, fields, listingOf(resource.name, row, view.as));
      }}
      onSort={(name, adds) => {
        if (!fields.has(name) || fields.get(name)?.isList === true) return;
        change({ order: orderText(view.interface, orderedBy(order, name, adds)) });
      }}
    />
  );
}

const byName = ({ fields }: ResourceInfo): ReadonlyMap<string, FieldInfo> =>
  new Map(fields.map((field) => [field.name, field]));
