/** One listing as a role or key sees it: photos, facts, floor plans and rooms, open houses, people, and its record. */
import { pathSeenBy, Refused, type Viewer } from '../../app/api.ts';
import { change, link, path, query } from '../../app/route.ts';
import { SameAsSeen } from '../../parts/same-as-request.tsx';
import { isOwn, nameOfViewer, SeeAs, viewerOfPage } from '../../parts/see-as.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-loaded.ts';
import { AllFacts, FirstFacts } from './facts.tsx';
import './listing.css';
import {
  addressOf,
  hiddenFields,
  isPhoto,
  isPlan,
  type ListingRecord,
  listingPath,
  mediaOf,
  ownFields,
  partOf,
  type ServiceDocument,
  WITH_HIDDEN,
} from '../../parts/listing-record.ts';
import { PlanViewer } from '../../parts/plan-viewer.tsx';
import { BothRecords } from './both-records.tsx';
import { OpenHouses, People, Units } from './parts.tsx';
import { OtherFiles, Photos } from './photos.tsx';

export function Listing() {
  const [, key = ''] = path.value;
  return key === '' ? <NoListing /> : <OneListing key={key} listing={key} />;
}

const NoListing = () => (
  <>
    <h1>Listing</h1>
    <Empty title="No listing is chosen">
      <p>
        <a href={link(['explore'])}>Explore the listings</a> or look at{' '}
        <a href={link(['floorplans'])}>floor plans</a>.
      </p>
    </Empty>
  </>
);

const VIEWS = [
  ['', 'Listing'],
  ['record', 'Record in both interfaces'],
] as const;

/** The heading and the controls remain while the page is loaded for another role, so that the keyboard focus stays where it is. */
function OneListing({ listing }: { readonly listing: string }) {
  const viewer = viewerOfPage();
  const view = query.value.get('view') ?? '';
  const [sets, askSets] = useAnswer<ServiceDocument>(pathSeenBy(viewer, 'api', '/Reso/OData/'));
  const asks = sets.kind === 'loaded' ? listingPath(listing, sets.value.body) : undefined;
  const [asked, again] = useAnswer<ListingRecord>(
    asks === undefined ? undefined : pathSeenBy(viewer, 'api', asks),
    WITH_HIDDEN,
  );
  const isAnswered = sets.kind === 'loaded' && asked.kind === 'loaded';
  const record = isAnswered ? asked.value.body : undefined;
  return (
    <article class="listing">
      <h1>{record === undefined ? `Listing ${listing}` : addressOf(record)}</h1>
      <div class="row">
        <fieldset class="choice">
          <legend class="visually-hidden">What is shown</legend>
          {VIEWS.map(([name, title]) => (
            <button
              type="button"
              key={name}
              class="quiet"
              aria-pressed={view === name}
              onClick={() => change({ view: name })}
            >
              {title}
            </button>
          ))}
        </fieldset>
        <SeeAs />
      </div>
      {sets.kind === 'failed' ? (
        <Failed viewer={viewer} error={sets.error} again={askSets} />
      ) : asked.kind === 'failed' ? (
        <Failed viewer={viewer} error={asked.error} again={again} />
      ) : record === undefined ? (
        <Loading what="the listing" />
      ) : view === 'record' ? (
        <BothRecords viewer={viewer} listing={listing} record={record} />
      ) : (
        <Overview record={record} />
      )}
      {record === undefined || asks === undefined ? null : (
        <SameAsSeen
          viewer={viewer}
          surface="api"
          path={asks}
          table={{
            name: `listing-${listing}`,
            rows: () => ownFields(record).map(([field, value]) => ({ field, value })),
          }}
        />
      )}
    </article>
  );
}

interface FailedProps {
  readonly viewer: Viewer;
  readonly error: unknown;
  readonly again: () => void;
}

function Failed({ viewer, error, again }: FailedProps) {
  if (!(error instanceof Refused) || error.status !== 404) return <Problem error={error} again={again} />;
  return isOwn(viewer) ? (
    <Empty title="There is no such listing">
      <p>
        <a href={link(['explore'])}>Explore the listings</a>
      </p>
    </Empty>
  ) : (
    <Empty title={`${capital(nameOfViewer(viewer))} does not see this listing`}>
      <p>
        <a href={link(path.value)}>View as the operator</a>
      </p>
    </Empty>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const goToPlan = () => document.getElementById('floor-plan')?.focus();

function Overview({ record }: { readonly record: ListingRecord }) {
  const plans = mediaOf(record, isPlan);
  const rooms = partOf(record, 'Rooms');
  const others = mediaOf(record, (category) => !isPhoto(category) && !isPlan(category));
  return (
    <>
      <div class="first">
        <section aria-labelledby="photos">
          <h2 id="photos">Photos</h2>
          <Photos record={record} />
        </section>
        <div>
          <FirstFacts record={record} />
          {plans.length === 0 ? (
            <p class="hint">
              This listing has no floor plan.{' '}
              <a href={link(['floorplans'], { as: query.value.get('as') ?? undefined })}>All floor plans</a>
            </p>
          ) : (
            <button type="button" class="to-plan" onClick={goToPlan}>
              {plans.length === 1 ? 'See the floor plan' : `See the ${plans.length} floor plans`}
            </button>
          )}
        </div>
      </div>
      {plans.length === 0 && rooms.length === 0 ? null : (
        <section aria-labelledby="floor-plan">
          <h2 id="floor-plan" tabIndex={-1}>
            {plans.length === 0 ? 'Rooms' : rooms.length === 0 ? 'Floor plan' : 'Floor plan and rooms'}
          </h2>
          <PlanViewer context={record} plans={plans} rooms={rooms} />
        </section>
      )}
      <OpenHouses record={record} />
      <Units record={record} />
      <People record={record} />
      {others.length === 0 ? null : (
        <section aria-labelledby="files">
          <h2 id="files">Videos, tours and documents</h2>
          <OtherFiles record={record} files={others} />
        </section>
      )}
      <AllFacts record={record} hidden={hiddenFields(record).size} />
    </>
  );
}
