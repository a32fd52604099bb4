/** Whose rows and fields a page shows: one of the roles, or the key that the address names. */
import { type Eyes, session } from '../app/api.ts';
import { change, query } from '../app/route.ts';

const OWN: Eyes = 'role/private';

/** One name of a role or key, encoded; none that an address would take for a step upwards. */
const EYES = /^(?:role|key)\/(?!(?:\.|%2e){1,2}$)[^/?#]+$/i;

/** Whose eyes the address of the page names; the operator's if it names none. */
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
