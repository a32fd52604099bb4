/** The filter: its conditions, a form to add one, and its text. */
import { useState } from 'preact/hooks';
import type { About } from '../../app/api.ts';
import { change } from '../../app/route.ts';
import { ConditionForm } from './condition-form.tsx';
import { conditionInWords, conditionsIn, narrowed, without } from './conditions.ts';
import { FilterText } from './filter-text.tsx';
import type { ResourceInfo, Schema } from './schema.ts';
import { useValues } from './use-values.ts';
import type { View } from './view.ts';

interface FilterProps {
  readonly view: View;
  readonly about: About;
  readonly schema: Schema;
  readonly resource: ResourceInfo;
  /** The error of the service about the filter. */
  readonly problem: string | undefined;
}

/** Replaces the filter. */
export const filterBy = (filter: string): void => change({ filter });

export function FilterPart({ view, about, schema, resource, problem }: FilterProps) {
  const values = useValues(view, about);
  const [isTyping, setTyping] = useState(false);
  const conditions = conditionsIn(view.interface, view.filter);
  const isShown = isTyping || problem !== undefined;
  return (
    <section class="filter card" aria-labelledby="filter">
      <h2 id="filter">Filter</h2>
      {conditions.length === 0 ? null : (
        <ul class="conditions">
          {conditions.map((condition) => (
            <li key={condition}>
              <span title={condition}>{conditionInWords(condition, resource.fields)}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove: ${conditionInWords(condition, resource.fields)}`}
                onClick={() => filterBy(without(view.interface, view.filter, condition))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <ConditionForm
        name={view.interface}
        fields={resource.fields}
        values={values}
        onAdd={(condition) => filterBy(narrowed(view.interface, view.filter, condition))}
      />
      <button
        type="button"
        class="quiet"
        aria-expanded={isShown}
        aria-controls="filter-text-part"
        onClick={() => setTyping(!isShown)}
      >
        Type the filter
      </button>
      <div id="filter-text-part" hidden={!isShown}>
        {isShown ? (
          <FilterText
            view={view}
            schema={schema}
            resource={resource}
            values={values}
            problem={problem}
            onApply={filterBy}
          />
        ) : null}
      </div>
    </section>
  );
}
