/** Dictionary: the resources and fields that a role sees, with their types, lookups and classes. */
import { change, link, query } from '../../app/route.ts';
import { Select } from '../../parts/choices.tsx';
import { classWords } from '../../parts/class-words.ts';
import { SameAsSeen } from '../../parts/same-as-request.tsx';
import { SeeAs, viewerOfPage } from '../../parts/see-as.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useTyped } from '../../parts/typed.ts';
import { latestOf, useLoaded } from '../../parts/use-loaded.ts';
import { dictionaryOf, type FieldEntry, matches, type ResourceEntry } from './entries.ts';
import { FieldTable } from './field-table.tsx';
import './dictionary.css';

export function Dictionary() {
  const viewer = viewerOfPage();
  const [dictionary, again] = useLoaded(viewer, () => dictionaryOf(viewer));
  const resources = latestOf(dictionary);
  return (
    <>
      <h1>Dictionary</h1>
      <p class="hint">The fields that a role may name, as the interfaces describe them to it.</p>
      {dictionary.kind === 'failed' ? (
        <>
          <SeeAs />
          <Problem error={dictionary.error} again={again} />
        </>
      ) : resources === undefined ? (
        <Loading what="the dictionary" />
      ) : (
        <>
          <Fields resources={resources} viewer={viewer} />
          <SameAsSeen
            viewer={viewer}
            surface="api"
            path={METADATA}
            table={{ name: 'dictionary', rows: () => resources.flatMap(({ fields }) => fields.map(rowOf)) }}
          />
        </>
      )}
    </>
  );
}

const METADATA = '/Reso/OData/$metadata?$format=json';

/** A field, as a row of a downloaded file. */
const rowOf = ({ resource, name, localName, type, isList, lookup, class: own, since }: FieldEntry) => ({
  ...{ resource, name, localName, type, isList, lookup, class: own, since },
});

function Fields({
  resources,
  viewer,
}: {
  readonly resources: readonly ResourceEntry[];
  readonly viewer: string;
}) {
  const [search, setSearch] = useTyped('q');
  const chosen = query.value.get('resource') ?? '';
  const kind = query.value.get('class') ?? '';
  const kinds = [...new Set(resources.flatMap(({ fields }) => fields.flatMap((each) => each.class ?? [])))];
  const isFound = (field: FieldEntry): boolean =>
    (kind === '' || field.class === kind) && matches(field, search);
  const found = resources
    .filter(({ name }) => chosen === '' || name === chosen)
    .map((resource) => ({ resource, fields: resource.fields.filter(isFound) }))
    .filter(({ fields }) => fields.length > 0);
  const isOverview = search.trim() === '' && chosen === '' && kind === '';
  const count = found.reduce((sum, { fields }) => sum + fields.length, 0);
  return (
    <>
      <search class="dictionary-asks">
        <label class="field grows">
          Search the fields
          <input
            type="search"
            value={search}
            placeholder="price, lake, school …"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <label class="field">
          Resource
          <Select
            value={chosen}
            choose={(resource) => change({ resource })}
            options={[['', 'All resources'], ...resources.map(({ name }) => name)]}
          />
        </label>
        <label class="field">
          Class
          <Select
            value={kind}
            choose={(each) => change({ class: each })}
            options={[['', 'All classes'], ...kinds]}
          />
        </label>
        <SeeAs />
      </search>
      {kind === '' ? null : <p class="hint">{classWords(kind) ?? 'A custom class.'}</p>}
      <output class="hint dictionary-count">
        {plural(count, 'field')} of {plural(found.length, 'resource')}
      </output>
      {isOverview ? (
        <Overview resources={resources} viewer={viewer} />
      ) : found.length === 0 ? (
        <Empty title="No field matches">
          <p>A role finds only the fields that it may name, and only those that the store has values for.</p>
          <a href={link(['dictionary'], { as: viewer })}>Show all resources</a>
        </Empty>
      ) : (
        found.map(({ resource, fields }) => (
          <section key={resource.name}>
            <h2>{resource.name}</h2>
            <p class="hint">
              {plural(fields.length, 'field')}
              {fields.length < resource.fields.length ? ` of ${resource.fields.length}` : ''}. A record is
              known by <code>{resource.key}</code>.
              <Leads resource={resource} viewer={viewer} />
            </p>
            <FieldTable resource={resource.name} fields={fields} search={search} viewer={viewer} />
          </section>
        ))
      )}
    </>
  );
}

/** The resources to which the navigations of a resource lead. */
function Leads({ resource, viewer }: { readonly resource: ResourceEntry; readonly viewer: string }) {
  // Custom fields are part of the record itself.
  const others = resource.leadsTo.filter(({ name }) => name !== 'CustomFields');
  const targets = [...new Set(others.map(({ to }) => to))];
  if (targets.length === 0) return null;
  return (
    <>
      {' Related resources: '}
      {targets.map((to, at) => (
        <span key={to}>
          {at === 0 ? '' : ', '}
          <a href={link(['dictionary'], { as: viewer, resource: to })}>{to}</a>
        </span>
      ))}
      .
    </>
  );
}

function Overview({
  resources,
  viewer,
}: {
  readonly resources: readonly ResourceEntry[];
  readonly viewer: string;
}) {
  if (resources.length === 0) return <Empty title="This role sees no resource" />;
  return (
    <ul class="dictionary-resources">
      {resources.map((resource) => {
        const custom = resource.fields.filter(({ localName }) => localName !== undefined).length;
        return (
          <li key={resource.name} class="card">
            <h2>
              <a href={link(['dictionary'], { as: viewer, resource: resource.name })}>{resource.name}</a>
            </h2>
            <p>
              {plural(resource.fields.length, 'field')}
              {custom === 0 ? '' : `, ${custom} of them custom`}
            </p>
            <p class="hint">
              <a href={link(['explore'], { as: viewer, resource: resource.name })}>Explore its records</a>
            </p>
          </li>
        );
      })}
    </ul>
  );
}

const plural = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
