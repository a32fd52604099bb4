/** The content of a listing: the few facts that a broker looks for first, and all others in groups, with a search. */
import { change, query } from '../../app/route.ts';
import { Check } from '../../parts/choices.tsx';
import { Fact } from '../../parts/fact.tsx';
import { type Fields, numberOf, ownFields, textOf } from '../../parts/listing-record.ts';
import { Empty } from '../../parts/states.tsx';
import { isEmpty, money, shownValue, wordsOf } from '../../parts/words.ts';
import { grouped } from './fact-groups.ts';

const count = (number: number | undefined, one: string, many: string): string | undefined =>
  number === undefined ? undefined : `${number} ${number === 1 ? one : many}`;

/** The closing price if there is one, otherwise the list price. */
function priceOf(record: Fields): string | undefined {
  const closed = numberOf(record, 'ClosePrice');
  if (closed !== undefined) return `${money(closed)} sold`;
  const asked = numberOf(record, 'ListPrice');
  if (asked === undefined) return undefined;
  return /lease/i.test(textOf(record, 'PropertyType') ?? '') ? `${money(asked)} rent` : money(asked);
}

function areaOf(record: Fields): string | undefined {
  const area = numberOf(record, 'LivingArea');
  if (area === undefined) return undefined;
  return `${shownValue('LivingArea', area)} ${(textOf(record, 'LivingAreaUnits') ?? 'Square Feet').toLowerCase()}`;
}

function lotOf(record: Fields): string | undefined {
  const acres = numberOf(record, 'LotSizeAcres');
  if (acres !== undefined) return `${acres} acre lot`;
  const area = numberOf(record, 'LotSizeArea');
  return area === undefined
    ? undefined
    : `${shownValue('LotSizeArea', area)} ${(textOf(record, 'LotSizeUnits') ?? '').toLowerCase()} lot`;
}

export function FirstFacts({ record }: { readonly record: Fields }) {
  const year = numberOf(record, 'YearBuilt');
  const days = numberOf(record, 'DaysOnMarket');
  const facts = [
    count(numberOf(record, 'BedroomsTotal'), 'bed', 'beds'),
    count(numberOf(record, 'BathroomsTotalInteger'), 'bath', 'baths'),
    areaOf(record),
    lotOf(record),
    year === undefined ? undefined : `built ${year}`,
    count(days, 'day on the market', 'days on the market'),
  ].filter((fact) => fact !== undefined);
  const kind = [textOf(record, 'PropertyType'), textOf(record, 'PropertySubType')].filter(Boolean).join(', ');
  const remarks = textOf(record, 'PublicRemarks');
  return (
    <section class="first-facts card" aria-label="At a glance">
      <p class="price">
        {priceOf(record) ?? 'Price not shown'}
        {textOf(record, 'StandardStatus') === undefined ? null : (
          <span class="badge good">{textOf(record, 'StandardStatus')}</span>
        )}
      </p>
      {facts.length === 0 ? null : (
        <ul class="figures">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {kind === '' ? null : <p>{kind}</p>}
      {textOf(record, 'ListingId') === undefined ? null : (
        <p class="hint">MLS number {textOf(record, 'ListingId')}</p>
      )}
      {remarks === undefined ? null : <p class="remarks">{remarks}</p>}
    </section>
  );
}

/** @param hidden the number of fields that the role does not see */
export function AllFacts({ record, hidden }: { readonly record: Fields; readonly hidden: number }) {
  const wanted = query.value.get('find') ?? '';
  const withEmpty = query.value.get('empty') === '1';
  const sought = wanted.toLowerCase();
  const facts = ownFields(record).filter(
    ([field, value]) =>
      (withEmpty || !isEmpty(value)) &&
      `${field} ${wordsOf(field)} ${shownValue(field, value)}`.toLowerCase().includes(sought),
  );
  return (
    <section aria-labelledby="all-facts">
      <h2 id="all-facts">All facts</h2>
      <search class="row">
        <label>
          Find a fact{' '}
          <input
            type="search"
            value={wanted}
            placeholder="heating, school, 1999 …"
            onInput={({ currentTarget }) => change({ find: currentTarget.value }, true)}
          />
        </label>
        <Check class="check" isOn={withEmpty} set={(isOn) => change({ empty: isOn ? '1' : undefined }, true)}>
          Show empty fields
        </Check>
        <output class="hint">{facts.length === 1 ? '1 fact' : `${facts.length} facts`}</output>
      </search>
      {facts.length === 0 ? (
        <Empty title={wanted === '' ? 'The record has no other facts' : `No fact contains “${wanted}”`} />
      ) : (
        <div class="fact-groups">
          {grouped(facts).map(([title, members]) => (
            <div class="card" key={title}>
              <h3>{title}</h3>
              <dl>
                {members.map(([field, value]) => (
                  <Fact key={field} name={wordsOf(field)} title={field}>
                    {shownValue(field, value)}
                  </Fact>
                ))}
              </dl>
            </div>
          ))}
        </div>
      )}
      {hidden === 0 ? null : (
        <p class="hint">{hidden === 1 ? 'One more field is' : `${hidden} more fields are`} hidden here.</p>
      )}
    </section>
  );
}
