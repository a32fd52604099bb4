/** The choice of the role or key as which a page reads. */
import { type Eyes, session } from '../app/api.ts';
import { change, query } from '../app/route.ts';

const OWN: Eyes = 'role/private';

/** A role or key by its encoded name. `.` and `..` are excluded, since they would change the path. */
const EYES = /^(?:role|key)\/(?!(?:\.|%2e){1,2}$)[^/?#]+$/i;

/** The role or key that the address of the page names; by default, the operator's role. */
export function eyesOfPage(): Eyes {
  const named = query.value.get('as') ?? OWN;
  return EYES.test(named) ? named : OWN;
}

export const isOwn = (eyes: Eyes): boolean => eyes === OWN;

/** `role/idx`: the role idx. */
export function nameOfEyes(eyes: Eyes): string {
  const [kind, name = ''] = eyes.split('/');
  return `the ${kind === 'key' ? 'key' : 'role'} ${decodeURIComponent(name)}`;
}

export function SeeAs() {
  const eyes = eyesOfPage();
  const about = session.value;
  const roles = typeof about === 'object' ? about.roles : [];
  const choices = roles.map((role) => `role/${encodeURIComponent(role)}`);
  return (
    <label class="see-as">
      See as{' '}
      <select value={eyes} onChange={({ currentTarget }) => change({ as: currentTarget.value })}>
        {(choices.includes(eyes) ? choices : [eyes, ...choices]).map((each) => (
          <option key={each} value={each}>
            {each === OWN ? 'operator (role private)' : nameOfEyes(each).replace(/^the /, '')}
          </option>
        ))}
      </select>
    </label>
  );
}
