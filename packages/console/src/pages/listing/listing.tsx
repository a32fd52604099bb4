/** One listing as a role or key sees it: photos, facts, floor plans and rooms, open houses, people, and its record. */
import { type Eyes, Refused, seenThrough } from '../../app/api.ts';
import { change, link, path, query } from '../../app/route.ts';
import { eyesOfPage, isOwn, nameOfEyes, SeeAs } from '../../parts/see-as.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
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
  partOf,
  type ServiceDocument,
  WITH_HIDDEN,
} from '../../parts/listing-record.ts';
import { PlanViewer } from '../../parts/plan-viewer.tsx';
import { BothRecords } from './both-records.tsx';
import { OpenHouses, People, Units } from './parts.tsx';
import { OtherFiles, Photos } from './photos.tsx';

export function Listing() {
  const eyes = eyesOfPage();
  const [, key = ''] = path.value;
  const [sets, askSets] = useAnswer<ServiceDocument>(seenThrough(eyes, 'api', '/Reso/OData/'));
  const [asked, again] = useAnswer<ListingRecord>(
    sets.kind === 'answered' && key !== '' ? listingPath(eyes, key, sets.answer.body) : undefined,
    WITH_HIDDEN,
  );
  if (key === '')
    return (
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
  if (sets.kind === 'failed') return <Failed eyes={eyes} listing={key} error={sets.error} again={askSets} />;
  if (asked.kind === 'failed') return <Failed eyes={eyes} listing={key} error={asked.error} again={again} />;
  if (asked.kind === 'loading' || sets.kind === 'loading') return <Loading what="the listing" />;
  return <Shown key={key} eyes={eyes} listing={key} record={asked.answer.body} />;
}

interface FailedProps {
  readonly eyes: Eyes;
  readonly listing: string;
  readonly error: unknown;
  readonly again: () => void;
}

function Failed({ eyes, listing, error, again }: FailedProps) {
  return (
    <>
      <h1>Listing {listing}</h1>
      <div class="row">
        <SeeAs />
      </div>
      {error instanceof Refused && error.status === 404 ? (
        <Empty
          title={
            isOwn(eyes)
              ? 'There is no such listing'
              : `${capital(nameOfEyes(eyes))} does not see this listing`
          }
        >
          <p>
            {isOwn(eyes) ? (
              <a href={link(['explore'])}>Explore the listings</a>
            ) : (
              <a href={link(path.value)}>Look as the operator</a>
            )}
          </p>
        </Empty>
      ) : (
        <Problem error={error} again={again} />
      )}
    </>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const VIEWS = [
  ['', 'Listing'],
  ['record', 'Record in both interfaces'],
] as const;

function Shown({
  eyes,
  listing,
  record,
}: {
  readonly eyes: Eyes;
  readonly listing: string;
  readonly record: ListingRecord;
}) {
  const view = query.value.get('view') ?? '';
  return (
    <article class="listing">
      <h1>{addressOf(record)}</h1>
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
      {view === 'record' ? (
        <BothRecords eyes={eyes} listing={listing} record={record} />
      ) : (
        <Overview record={record} />
      )}
    </article>
  );
}

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
          {plans.length === 0 ? null : (
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
