/** The choice of the role or key as which a page reads. */
import { session, type Viewer } from '../app/api.ts';
import { change, query } from '../app/route.ts';
import { Select } from './choices.tsx';

const OWN: Viewer = 'role/private';

/** A role or key by its encoded name. `.` and `..` are excluded, since they would change the path. */
const VIEWER = /^(?:role|key)\/(?!(?:\.|%2e){1,2}$)[^/?#]+$/i;

/** The role or key that the address of the page names; by default, the operator's role. */
export function viewerOfPage(): Viewer {
  const named = query.value.get('as') ?? OWN;
  return VIEWER.test(named) ? named : OWN;
}

export const isOwn = (viewer: Viewer): boolean => viewer === OWN;

/** `role/idx`: the role idx. */
export function nameOfViewer(viewer: Viewer): string {
  const [kind, name = ''] = viewer.split('/');
  return `the ${kind === 'key' ? 'key' : 'role'} ${decodeURIComponent(name)}`;
}

export function SeeAs() {
  const viewer = viewerOfPage();
  const about = session.value;
  const roles = typeof about === 'object' ? about.roles : [];
  const choices = roles.map((role) => `role/${encodeURIComponent(role)}`);
  return (
    <label class="see-as">
      See as{' '}
      <Select
        value={viewer}
        choose={(as) => change({ as })}
        options={(choices.includes(viewer) ? choices : [viewer, ...choices]).map((each) => [
          each,
          each === OWN ? 'operator (role private)' : nameOfViewer(each).replace(/^the /, ''),
        ])}
      />
    </label>
  );
}
