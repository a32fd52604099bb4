/** A viewer for the floor plans of a listing, with a table of its rooms. */
import { change, query } from '../app/route.ts';
import { Drawing } from './drawing.tsx';
import { FileLink, type InContext, servedAddress } from './files.tsx';
import './plan-viewer.css';
import { type Fields, nameOfMedia, textOf } from './listing-record.ts';
import { RoomTable } from './rooms.tsx';

export interface PlansProps {
  /** The response with the plans. */
  readonly context: InContext;
  readonly plans: readonly Fields[];
  readonly rooms: readonly Fields[];
}

/** Whether browsers can display the file as an image. */
const isPicture = (media: Fields): boolean => !/pdf/i.test(textOf(media, 'MediaType') ?? '');

/** The plan that the address of the page names, or the first one. */
export function PlanViewer({ context, plans, rooms }: PlansProps) {
  const wanted = query.value.get('plan');
  const plan = plans.find(({ MediaKey }) => MediaKey === wanted) ?? plans[0];
  return (
    <>
      {plans.length < 2 ? null : (
        <ul class="plan-choice" aria-label="Floor plans of this listing">
          {plans.map((each, index) => (
            <li key={each.MediaKey}>
              <button
                type="button"
                class="quiet"
                aria-current={each === plan ? 'true' : undefined}
                onClick={() => change({ plan: textOf(each, 'MediaKey') }, true)}
              >
                {index + 1}. {nameOfMedia(each)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class={rooms.length === 0 ? 'plan' : 'plan with-rooms'}>
        {plan === undefined ? null : <Plan key={plan.MediaKey} context={context} plan={plan} />}
        {rooms.length === 0 ? null : <RoomTable rooms={rooms} />}
      </div>
    </>
  );
}

function Plan({ context, plan }: { readonly context: InContext; readonly plan: Fields }) {
  const served = servedAddress(plan.MediaURL, context);
  const name = nameOfMedia(plan);
  if (served !== undefined && isPicture(plan)) return <Drawing key={served} address={served} name={name} />;
  return (
    <p class="card">
      {served === undefined
        ? 'This plan is on another host and is not loaded here: '
        : 'This plan is a document: '}
      <FileLink address={plan.MediaURL} served={served}>
        {name}
      </FileLink>
    </p>
  );
}
