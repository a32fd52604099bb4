/** Explore: the response of an interface to a role or key, as a table, as JSON or on a map. */
import type { About } from '../../app/api.ts';
import { session } from '../../app/api.ts';
import { query } from '../../app/route.ts';
import { viewerOfPage } from '../../parts/see-as.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-loaded.ts';
import './explore.css';
import { FilterPart } from './filter-part.tsx';
import { Picks } from './picks.tsx';
import { ResultsPart } from './results-part.tsx';
import { useSchema } from './use-schema.ts';
import { type ListedKey, viewOf } from './view.ts';

export function Explore() {
  const about = session.value;
  if (typeof about !== 'object') return null;
  return <Explored about={about} />;
}

function Explored({ about }: { readonly about: About }) {
  const [keys] = useAnswer<{ readonly keys: readonly ListedKey[] }>('/keys');
  const listed = keys.kind === 'loaded' ? keys.value.body.keys : undefined;
  const view = viewOf(query.value, viewerOfPage(), listed);
  // The kind of a key determines the surface.
  const isReady = !view.as.startsWith('key/') || keys.kind !== 'loading';
  return (
    <div class="explore">
      <h1>Explore</h1>
      {isReady ? <Asked view={view} about={about} keys={listed} /> : <Loading what="the keys" />}
    </div>
  );
}

interface AskedProps {
  readonly view: ReturnType<typeof viewOf>;
  readonly about: About;
  readonly keys: readonly ListedKey[] | undefined;
}

function Asked({ view, about, keys }: AskedProps) {
  const [known, again] = useSchema(view, about);
  const schema = known.kind === 'loaded' ? known.value : undefined;
  const resource = schema?.get(view.resource);
  return (
    <>
      <Picks view={view} about={about} keys={keys} schema={schema} />
      {known.kind === 'failed' ? (
        <Problem error={known.error} again={again} />
      ) : known.kind === 'loading' ? (
        <Loading what="the fields" />
      ) : resource === undefined ? (
        <Problem error={`This role or key sees no resource ${view.resource}.`} />
      ) : (
        <ResultsPart
          view={view}
          about={about}
          schema={known.value}
          resource={resource}
          filter={(problem) => (
            <FilterPart
              key={`${view.as} ${view.interface} ${view.resource}`}
              view={view}
              about={about}
              schema={known.value}
              resource={resource}
              problem={problem}
            />
          )}
        />
      )}
    </>
  );
}
