/** The values of a field's lookup, as a role sees them, with the number of records for each on demand. */
import { useState } from 'preact/hooks';
import { pathSeenBy, Refused } from '../../app/api.ts';
import { link } from '../../app/route.ts';
import { countsOf } from '../../parts/counts.ts';
import { everyPage } from '../../parts/every-page.ts';
import { quoted } from '../../parts/listing-record.ts';
import { Loading, Problem } from '../../parts/states.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type FieldEntry, isValue } from './entries.ts';

interface LookupValue {
  readonly LookupKey: string;
  readonly LookupValue: string;
  readonly StandardLookupValue?: string | null;
}

/** The number of values that are shown, and counted, at a time. */
const AT_ONCE = 60;

export function Values({
  field,
  lookup,
  viewer,
}: {
  readonly field: FieldEntry;
  readonly lookup: string;
  readonly viewer: string;
}) {
  const filter = encodeURIComponent(`LookupName eq ${quoted(lookup)}`);
  const path = pathSeenBy(viewer, 'api', `/Reso/OData/Lookup?$filter=${filter}`);
  const [values, again] = useLoaded(path, () => everyPage<LookupValue>(path));
  const [shown, setShown] = useState(AT_ONCE);
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>();
  const [problem, setProblem] = useState<unknown>();
  if (values.kind === 'loading') return <Loading what="the values" />;
  if (values.kind === 'failed') {
    return values.error instanceof Refused && values.error.status === 404 ? (
      <p class="hint">This role sees no list of values.</p>
    ) : (
      <Problem error={values.error} again={again} />
    );
  }
  if (values.value.length === 0) return <p class="hint">No record that this role sees has a value.</p>;
  const visible = values.value.slice(0, shown);
  const count = () => {
    setProblem(undefined);
    const asked = visible.flatMap(({ LookupValue: value }) => {
      const wanted = isValue(field, value);
      return wanted === undefined ? [] : [{ name: value, resource: field.resource, filter: wanted, viewer }];
    });
    countsOf(asked, setCounts).catch(setProblem);
  };
  return (
    <div class="dictionary-values">
      <div class="row">
        <strong>
          {values.value.length} {values.value.length === 1 ? 'value' : 'values'} of {lookup}
        </strong>
        {field.isText ? (
          <button type="button" class="quiet" onClick={count}>
            Count the records<span class="visually-hidden"> with each value of {field.name}</span>
          </button>
        ) : null}
      </div>
      {problem === undefined ? null : <Problem error={problem} again={count} />}
      <ul class="dictionary-value-list">
        {visible.map(({ LookupKey, LookupValue: value, StandardLookupValue: standard }) => {
          const wanted = isValue(field, value);
          const number = counts?.get(value);
          return (
            <li key={LookupKey} class={number === 0 ? 'is-unused' : undefined}>
              {wanted === undefined ? (
                value
              ) : (
                <a href={link(['explore'], { as: viewer, resource: field.resource, filter: wanted })}>
                  {value}
                </a>
              )}
              {number === undefined ? null : (
                <span class="hint">{number === 0 ? 'not in use' : number.toLocaleString('en-US')}</span>
              )}
              {typeof standard === 'string' ? null : <span class="badge">Own</span>}
            </li>
          );
        })}
      </ul>
      <p class="hint">
        Values marked as own are not in the standard dictionary: records of this market have them.
      </p>
      {values.value.length > shown ? (
        <button type="button" class="quiet" onClick={() => setShown(shown + AT_ONCE)}>
          Show {Math.min(AT_ONCE, values.value.length - shown)} more
        </button>
      ) : null}
    </div>
  );
}
