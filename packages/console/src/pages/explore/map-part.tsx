/**
 * The results on a map and, beside it, as text: the places with their listings, and those in view, each with a link. This module is
 * loaded only when a person opens the map.
 */
import { useMemo, useState } from 'preact/hooks';
import type { About } from '../../app/api.ts';
import { type MapPoint, type PlaceOutline, PointMap } from '../../parts/map.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useAnswer } from '../../parts/use-loaded.ts';
import { type Located, type MapRecord, placeFields, useLocated } from './map-records.ts';
import { type Outlines, outlinesIn } from './outlines.ts';
import './map-part.css';
import type { ResourceInfo } from './schema.ts';
import type { View } from './view.ts';

export interface MapPartProps {
  readonly view: View;
  readonly about: About;
  readonly resource: ResourceInfo;
  /** The number of records that match the filter, with or without a location. */
  readonly count: number;
}

/** Resources whose records have locations. */
const LIE_SOMEWHERE: ReadonlySet<string> = new Set(['Property', 'listings']);

export function MapPart(props: MapPartProps) {
  if (placeFields(props.resource) !== undefined) return <Points {...props} />;
  const { name } = props.resource;
  return LIE_SOMEWHERE.has(name) ? (
    <Empty title="Locations are hidden from this role or key">
      <p>
        It does not see Latitude and Longitude, so there is nothing to show on a map. View as another role, or
        show the results as a table.
      </p>
    </Empty>
  ) : (
    <Empty title="These records have no location">
      <p>{name} has no Latitude and Longitude. The map shows listings.</p>
    </Empty>
  );
}

function Points({ view, about, resource, count }: MapPartProps) {
  const locating = useLocated(view, about, resource);
  const [outlines] = useAnswer<Outlines>('/outlines');
  // If the outlines cannot be read, the map draws its own.
  const shapes = useMemo(
    () => (outlines.kind === 'loaded' ? outlinesIn(outlines.value.body) : []),
    [outlines],
  );
  switch (locating.kind) {
    case 'failed':
      return <Problem error={locating.error} />;
    case 'loading':
      return (
        <Loading
          what={locating.loaded === 0 ? 'the map' : `the map: ${locating.loaded.toLocaleString('en-US')}`}
        />
      );
    case 'located':
      if (outlines.kind === 'loading') return <Loading what="the map" />;
      if (locating.located.records.length === 0) {
        return (
          <Empty title="None of these has a location">
            <p>{withoutLocation(count)}</p>
          </Empty>
        );
      }
      return <Shown located={locating.located} outlines={shapes} all={count} />;
  }
}

const withoutLocation = (count: number): string =>
  count === 1
    ? '1 listing has no location, or its location is hidden from this role or key.'
    : `${count.toLocaleString('en-US')} listings have no location, or their locations are hidden from this role or key.`;

/** The number of listings in view that are listed beside the map. */
const MOST_LISTED = 50;

interface ShownProps {
  readonly located: Located;
  readonly outlines: readonly PlaceOutline[];
  /** The number of records that match the filter, with or without a location. */
  readonly all: number;
}

function Shown({ located, outlines, all }: ShownProps) {
  const { records, count, isWhole } = located;
  const [picked, setPicked] = useState<string>();
  const [inView, setInView] = useState<readonly MapPoint[]>(records);
  const byId = useMemo(() => new Map(records.map((record) => [record.id, record])), [records]);
  const listed = inView.slice(0, MOST_LISTED).flatMap(({ id }) => byId.get(id) ?? []);
  const chosen = picked === undefined ? undefined : byId.get(picked);
  const missing = all - count;
  return (
    <div class="map-part">
      <div>
        <PointMap
          label={`Map of ${records.length.toLocaleString('en-US')} listings`}
          points={records}
          outlines={outlines}
          picked={picked}
          onPick={setPicked}
          onView={setInView}
        />
        <Legend />
        {isWhole ? null : (
          <p class="hint">
            The map shows the first {records.length.toLocaleString('en-US')} of{' '}
            {count.toLocaleString('en-US')} listings. Narrow the filter to see the others.
          </p>
        )}
        {missing > 0 ? <p class="hint">{withoutLocation(missing)}</p> : null}
        <Places records={records} />
      </div>
      <section class="in-view" aria-labelledby="in-view">
        <h3 id="in-view">In view</h3>
        <output class="hint">
          {inView.length.toLocaleString('en-US')} {inView.length === 1 ? 'listing' : 'listings'}
          {inView.length > MOST_LISTED ? `, of which ${MOST_LISTED} are listed` : ''}
        </output>
        {chosen === undefined ? null : (
          <output class="chosen card">
            <Named record={chosen} />
          </output>
        )}
        <ul>
          {listed.map((record) => (
            <li key={record.id} class={record.id === picked ? 'is-picked' : undefined}>
              <Named record={record} />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

const Named = ({ record }: { readonly record: MapRecord }) =>
  record.href === undefined ? <span>{record.label}</span> : <a href={record.href}>{record.label}</a>;

const Legend = () => (
  <ul class="legend">
    <li class="tone-main">For sale</li>
    <li class="tone-warn">Under contract</li>
    <li class="tone-soft">Others</li>
  </ul>
);

/** The content of the map in words, by place. */
function Places({ records }: { readonly records: readonly MapRecord[] }) {
  const places = [...Map.groupBy(records, ({ place }) => place)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  return (
    <details>
      <summary>The places of the map as a table</summary>
      <Table
        label="Places"
        rows={places}
        keyOf={([place]) => place}
        columns={[
          { title: 'City', cell: ([place]) => (place === '' ? 'No city' : place) },
          { title: 'Listings', isNumber: true, cell: ([, own]) => own.length.toLocaleString('en-US') },
          {
            ...{ title: 'Median price', isNumber: true },
            cell: ([, own]) => medianPrice(own)?.toLocaleString('en-US') ?? '–',
          },
        ]}
      />
    </details>
  );
}

function medianPrice(records: readonly MapRecord[]): number | undefined {
  const prices = records
    .flatMap(({ price }) => (price === undefined ? [] : [price]))
    .toSorted((one, other) => one - other);
  const [low, high] = [prices[Math.ceil(prices.length / 2) - 1], prices[Math.floor(prices.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
