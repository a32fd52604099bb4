/** The market at a glance: how often each value occurs, and the distribution of prices. A click adds a condition to the filter. */
import { useState } from 'preact/hooks';
import { Refused } from '../../app/api.ts';
import { change, query } from '../../app/route.ts';
import { Select } from '../../parts/choices.tsx';
import { Copy } from '../../parts/copy.tsx';
import { commandOf } from '../../parts/same-as-request.tsx';
import { save } from '../../parts/save.ts';
import { Loading, Problem } from '../../parts/states.tsx';
import { latestOf, useAnswer } from '../../parts/use-loaded.ts';
import { conditionsIn, narrowed, without } from './conditions.ts';
import {
  type Asked,
  askedIn,
  between,
  conditionOf,
  countable,
  csvOfFacets,
  type Facet,
  type Facets,
  facetsPath,
  measurable,
  rangesOf,
  type Spread,
  valueInWords,
} from './facets.ts';
import './facets.css';
import { type FieldInfo, type ResourceInfo, titled } from './schema.ts';
import type { View } from './view.ts';

interface FacetsProps {
  readonly view: View;
  readonly resource: ResourceInfo;
}

const filterBy = (filter: string): void => change({ filter });

export function FacetsPart({ view, resource }: FacetsProps) {
  // On a phone, the results come first, so the overview starts closed.
  const [isOpen, setOpen] = useState(() => matchMedia('(width >= 48rem)').matches);
  const asked = askedIn(query.value, resource);
  const isAsked = isOpen && (asked.fields.length > 0 || asked.spread !== undefined);
  const path = facetsPath(view, asked);
  const [answer, again] = useAnswer<Facets>(isAsked ? path : undefined);
  // The previous counts are shown until the new ones have arrived.
  const shown = latestOf(answer)?.body;
  const isAboutFilter = answer.kind === 'failed' && isOfFilter(answer.error);
  return (
    <details class="facets card" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>At a glance</h2>
      </summary>
      {answer.kind === 'failed' && !isAboutFilter ? <Problem error={answer.error} again={again} /> : null}
      {isAsked && shown === undefined && answer.kind === 'loading' ? <Loading what="the numbers" /> : null}
      {isOpen && shown !== undefined ? (
        <div class="facet-grid" aria-busy={answer.kind === 'loading'}>
          {shown.histogram === undefined || asked.spread === undefined ? null : (
            <Distribution view={view} resource={resource} field={asked.spread} spread={shown.histogram} />
          )}
          {shown.fields.map((facet) => {
            const field = resource.fields.find(({ name }) => name === facet.field);
            return field === undefined ? null : (
              <Values
                key={facet.field}
                view={view}
                field={field}
                facet={facet}
                asked={asked}
                all={shown.records}
              />
            );
          })}
        </div>
      ) : null}
      {isOpen ? <Foot resource={resource} asked={asked} path={path} shown={shown} /> : null}
    </details>
  );
}

/** Whether an error is about the filter; such errors are shown next to the filter. */
const isOfFilter = (error: unknown): boolean =>
  error instanceof Refused && /^[$_]filter\b/.test(error.message);

/** The number of values to show before a person requests more. */
const FEW = 6;

interface ValuesProps {
  readonly view: View;
  readonly field: FieldInfo;
  readonly facet: Facet;
  readonly asked: Asked;
  /** The number of records that match the filter. */
  readonly all: number;
}

function Values({ view, field, facet, asked, all }: ValuesProps) {
  const [isWhole, setWhole] = useState(false);
  const { values, more, none } = facet;
  const shown = inOrder(isWhole ? values : values.slice(0, FEW));
  const most = Math.max(values[0]?.records ?? 0, none, 1);
  const rest = values.length - FEW;
  const id = `facet-${field.name}`;
  return (
    <section class="facet" aria-labelledby={id}>
      <div class="facet-head">
        <h3 id={id}>{field.label}</h3>
        <button
          type="button"
          class="quiet"
          aria-label={`Do not count ${field.label}`}
          onClick={() => change({ facets: namesOf(asked.fields.filter((each) => each !== field)) })}
        >
          ×
        </button>
      </div>
      <ul>
        {shown.map(({ value, records }) => (
          <Value
            key={String(value)}
            view={view}
            condition={conditionOf(view, field, value)}
            text={valueInWords(value)}
            records={records}
            most={most}
          />
        ))}
        {none === 0 ? null : (
          <Value
            view={view}
            condition={conditionOf(view, field, undefined)}
            text={none === all && values.length === 0 ? 'No values' : 'No value'}
            records={none}
            most={most}
          />
        )}
      </ul>
      {rest > 0 ? (
        <button type="button" class="quiet more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Fewer' : `${rest} more`}
          <span class="visually-hidden"> values of {field.label}</span>
        </button>
      ) : null}
      {more > 0 && (isWhole || rest <= 0) ? (
        <p class="hint">and {more.toLocaleString('en-US')} further values</p>
      ) : null}
    </section>
  );
}

/** Sorts numbers, such as those of rooms, by value, and all other values by their number of records. */
function inOrder(values: Facet['values']): Facet['values'] {
  const numbers = values.flatMap(({ value, records }) =>
    typeof value === 'number' ? [{ value, records }] : [],
  );
  return numbers.length < values.length ? values : numbers.toSorted((one, other) => one.value - other.value);
}

/** The names of fields in the address, which distinguishes an empty list from none. */
const namesOf = (fields: readonly FieldInfo[]): string =>
  fields.length === 0 ? '-' : fields.map(({ name }) => name).join(',');

interface ValueProps {
  readonly view: View;
  readonly condition: string;
  readonly text: string;
  readonly records: number;
  readonly most: number;
}

function Value({ view, condition, text, records, most }: ValueProps) {
  const isChosen = conditionsIn(view.interface, view.filter).includes(condition);
  const next = isChosen
    ? without(view.interface, view.filter, condition)
    : narrowed(view.interface, view.filter, condition);
  return (
    <li>
      <button type="button" class="value" aria-pressed={isChosen} onClick={() => filterBy(next)}>
        <span class="share" style={{ width: `${(records / most) * 100}%` }} />
        <span class="text">{text}</span> <span class="number">{records.toLocaleString('en-US')}</span>
      </button>
    </li>
  );
}

interface DistributionProps extends FacetsProps {
  readonly field: FieldInfo;
  readonly spread: Spread;
}

function Distribution({ view, resource, field, spread }: DistributionProps) {
  const ranges = rangesOf(spread, field);
  const most = Math.max(...ranges.map(({ records }) => records), 1);
  const each = Math.ceil(ranges.length / 5);
  return (
    <section class="facet distribution" aria-labelledby="distribution">
      <div class="facet-head">
        <h3 id="distribution">Distribution of</h3>
        <Select
          aria-labelledby="distribution"
          value={field.name}
          choose={(name) => change({ spread: name })}
          options={measurable(resource).map(titled)}
        />
      </div>
      {spread.least === null ? (
        <p class="hint">None of these records has a value.</p>
      ) : (
        <div class="bars">
          <ol>
            {ranges.map(({ from, to, records, text }, index) => (
              <li key={text}>
                <button
                  type="button"
                  class="bar"
                  title={`${text}: ${records.toLocaleString('en-US')}`}
                  aria-label={`${field.label} ${text}: ${records.toLocaleString('en-US')}`}
                  disabled={records === 0}
                  onClick={() => filterBy(between(view, field, from, to))}
                >
                  <span style={{ height: `${(records / most) * 100}%` }} />
                </button>
                <span class="axis" aria-hidden="true">
                  {index % each === 0 ? text.replace(/ (?:to|and) .*$/, '') : ''}
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {spread.none > 0 && spread.least !== null ? (
        <p class="hint">{spread.none.toLocaleString('en-US')} without a value</p>
      ) : null}
    </section>
  );
}

interface FootProps {
  readonly resource: ResourceInfo;
  readonly asked: Asked;
  readonly path: string;
  readonly shown: Facets | undefined;
}

function Foot({ resource, asked, path, shown }: FootProps) {
  const others = countable(resource).filter((field) => !asked.fields.includes(field));
  return (
    <div class="facets-foot">
      <label for="add-facet">Count another field</label>
      <Select
        id="add-facet"
        value=""
        choose={(name) => change({ facets: [...asked.fields.map((each) => each.name), name].join(',') })}
        options={[['', 'Choose a field'], ...others.map(titled)]}
      />
      <a class="button quiet" href={path} target="_blank" rel="noreferrer">
        Numbers as JSON
      </a>
      <button
        type="button"
        class="quiet"
        disabled={shown === undefined}
        onClick={() => {
          if (shown !== undefined) save('at-a-glance.csv', 'text/csv;charset=utf-8', csvOfFacets(shown));
        }}
      >
        Numbers as CSV
      </button>
      <span class="row">
        Numbers as curl
        <Copy text={commandOf(`${location.origin}${path}`)} what="the command of the numbers" />
      </span>
    </div>
  );
}
