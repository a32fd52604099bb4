/**
 * Floor plans by system and listing: a gallery of drawings, each of which opens in the viewer. They are read through the floor plan
 * interface.
 */
import { useEffect } from 'preact/hooks';
import { pathSeenBy, type Viewer } from '../../app/api.ts';
import { change, link, path, query } from '../../app/route.ts';
import { Select } from '../../parts/choices.tsx';
import { servedAddress } from '../../parts/files.tsx';
import { type Fields, nameOfMedia, textOf } from '../../parts/listing-record.ts';
import { Pager, placeIn } from '../../parts/pager.tsx';
import { PlanViewer } from '../../parts/plan-viewer.tsx';
import { SameAsSeen } from '../../parts/same-as-request.tsx';
import { SeeAs, viewerOfPage } from '../../parts/see-as.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useAnswer, useLoaded } from '../../parts/use-loaded.ts';
import './floorplans.css';
import {
  addressesOf,
  listingOf,
  PAGE,
  type PlanPage,
  plansPath,
  roomsPath,
  type System,
  systemsWithPlans,
} from './requests.ts';

/** The choices in the address of the page. */
function choiceOfPage() {
  return {
    system: query.value.get('system') ?? '',
    listing: query.value.get('listing') ?? '',
    from: placeIn('from'),
  };
}

const NO_SYSTEMS: readonly System[] = [];
const NO_NAMES: ReadonlyMap<string, string> = new Map();

export function FloorPlans() {
  const viewer = viewerOfPage();
  const choice = choiceOfPage();
  const [asked, again] = useAnswer<PlanPage>(pathSeenBy(viewer, 'floorplans', plansPath(choice)));
  const [systems, askSystems] = useLoaded(viewer, () => systemsWithPlans(viewer));
  return (
    <div class="plans-page">
      <h1>Floor plans</h1>
      <Choice
        systems={systems.kind === 'loaded' ? systems.value : NO_SYSTEMS}
        system={choice.system}
        listing={choice.listing}
      />
      {systems.kind === 'failed' ? <Problem error={systems.error} again={askSystems} /> : null}
      {asked.kind === 'failed' ? (
        <Problem error={asked.error} again={again} />
      ) : asked.kind === 'loaded' ? (
        <>
          <Found viewer={viewer} page={asked.value.body} from={choice.from} />
          <SameAsSeen
            viewer={viewer}
            surface="floorplans"
            path={plansPath(choice)}
            table={{ name: 'floor-plans', rows: () => asked.value.body.value.map(withoutNotes) }}
          />
        </>
      ) : (
        <Loading what="floor plans" />
      )}
    </div>
  );
}

/** A record in a downloaded file: its fields, without annotations. */
const withoutNotes = (plan: Fields): Fields =>
  Object.fromEntries(Object.entries(plan).filter(([name]) => !name.includes('@')));

function Choice({
  systems,
  system,
  listing,
}: {
  readonly systems: readonly System[];
  readonly system: string;
  readonly listing: string;
}) {
  const isKnown = system === '' || systems.some(({ id }) => id === system);
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget).get('listing') ?? '').trim();
    change({ listing: wanted, from: undefined, plan: undefined });
  };
  return (
    <form class="row" onSubmit={submit}>
      <label>
        System{' '}
        <Select
          value={system}
          choose={(id) => change({ system: id, from: undefined, plan: undefined })}
          options={systems.map(({ id, name }) => [id, name === undefined ? id : `${name} (${id})`])}
        >
          <option value="">All systems</option>
          {isKnown ? null : <option value={system}>{system}</option>}
        </Select>
      </label>
      <label>
        Listing key <input key={listing} name="listing" type="search" defaultValue={listing} />
      </label>
      <button type="submit">Find</button>
      <SeeAs />
    </form>
  );
}

function Found({
  viewer,
  page,
  from,
}: {
  readonly viewer: Viewer;
  readonly page: PlanPage;
  readonly from: number;
}) {
  const listings = [...new Set(page.value.map(listingOf))].filter((key) => key !== '');
  // The drawings are shown even if the addresses cannot be read.
  const [named] = useLoaded([viewer, ...listings].join(' '), () => addressesOf(viewer, listings));
  const addresses = named.kind === 'loaded' ? named.value : NO_NAMES;
  const wanted = query.value.get('plan');
  const chosen = page.value.find(({ MediaKey }) => MediaKey === wanted);
  if (page.value.length === 0)
    return (
      <Empty title="There are no floor plans here">
        <p>
          <a href={link(path.value, { as: query.value.get('as') ?? undefined })}>Look at all floor plans</a>
        </p>
      </Empty>
    );
  return (
    <>
      {chosen === undefined ? null : (
        <Opened key={chosen.MediaKey} viewer={viewer} page={page} plan={chosen} addresses={addresses} />
      )}
      <Gallery viewer={viewer} page={page} from={from} addresses={addresses} chosen={chosen} />
    </>
  );
}

interface OpenedProps {
  readonly viewer: Viewer;
  readonly page: PlanPage;
  readonly plan: Fields;
  readonly addresses: ReadonlyMap<string, string>;
}

function Opened({ viewer, page, plan, addresses }: OpenedProps) {
  const listing = listingOf(plan);
  const [rooms] = useAnswer<PlanPage>(roomsPath(viewer, listing));
  useEffect(() => document.getElementById('opened')?.focus(), []);
  return (
    <section aria-labelledby="opened">
      <h2 id="opened" tabIndex={-1}>
        {addresses.get(listing) ?? listing}
      </h2>
      <p class="row">
        <a href={link(['listing', listing], { as: query.value.get('as') ?? undefined })}>See the listing</a>
        <button type="button" class="quiet" onClick={() => change({ plan: undefined })}>
          Close
        </button>
      </p>
      <PlanViewer
        context={page}
        plans={[plan]}
        rooms={rooms.kind === 'loaded' ? rooms.value.body.value : []}
      />
    </section>
  );
}

interface GalleryProps {
  readonly viewer: Viewer;
  readonly page: PlanPage;
  readonly from: number;
  readonly addresses: ReadonlyMap<string, string>;
  readonly chosen: Fields | undefined;
}

function Gallery({ page, from, addresses, chosen }: GalleryProps) {
  const count = page['@odata.count'] ?? from + page.value.length;
  const until = from + page.value.length;
  return (
    <section aria-labelledby="drawings">
      <h2 id="drawings">
        {count === 1 ? '1 drawing' : `${from + 1} to ${until} of ${count.toLocaleString('en-US')} drawings`}
      </h2>
      <ul class="drawings">
        {page.value.map((plan) => (
          <li key={plan.MediaKey}>
            <Card
              page={page}
              plan={plan}
              address={addresses.get(listingOf(plan))}
              isChosen={plan === chosen}
            />
          </li>
        ))}
      </ul>
      <Pager
        label="More drawings"
        from={from}
        size={PAGE}
        total={count}
        go={(to) => change({ from: to, plan: undefined })}
      />
    </section>
  );
}

function Card({
  page,
  plan,
  address,
  isChosen,
}: {
  readonly page: PlanPage;
  readonly plan: Fields;
  readonly address: string | undefined;
  readonly isChosen: boolean;
}) {
  const served = servedAddress(plan.MediaURL, page);
  const type = textOf(plan, 'MediaType');
  const listing = listingOf(plan);
  const state = { ...Object.fromEntries(query.value), plan: textOf(plan, 'MediaKey') };
  return (
    <a class="drawing-card" href={link(path.value, state)} aria-current={isChosen ? 'true' : undefined}>
      {served === undefined || type === 'pdf' ? (
        <span class="no-picture">{served === undefined ? 'On another host' : 'Document'}</span>
      ) : (
        <img src={served} alt="" loading="lazy" />
      )}
      <span class="drawing-title">{address ?? listing}</span>
      <span class="hint">
        {nameOfMedia(plan)}
        {type === undefined ? '' : `, ${type}`}
      </span>
    </a>
  );
}
