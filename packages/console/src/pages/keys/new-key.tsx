/** Creates a key, and shows its token once. Only this dialog ever contains the token. */
import { useState } from 'preact/hooks';
import { pathSeenBy, post, session } from '../../app/api.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/states.tsx';
import { useAnswer } from '../../parts/use-loaded.ts';
import { KINDS, type Kind } from './key-facts.ts';

interface Made {
  readonly key: { readonly name: string; readonly kind: Kind };
  readonly token: string;
}

export function NewKey({ close }: { readonly close: () => void }) {
  const [made, setMade] = useState<Made>();
  return (
    <Dialog title={made === undefined ? 'New key' : `The token of ${made.key.name}`} close={close}>
      {made === undefined ? <Wishes done={setMade} /> : <Token of={made} close={close} />}
    </Dialog>
  );
}

function Token({ of: { key, token }, close }: { readonly of: Made; readonly close: () => void }) {
  return (
    <>
      <p>
        Pass it on to the user of this {key.kind} key. It is shown only once: the service does not store it.
      </p>
      <p class="row">
        <code class="token">{token}</code>
        <Copy text={token} what="the token" />
      </p>
      <p>
        <button type="button" onClick={close}>
          Done
        </button>
      </p>
    </>
  );
}

const textIn = (form: FormData, name: string): string => String(form.get(name) ?? '').trim();

const NO_SYSTEM = 'A floor plan key needs at least one system.';

function Wishes({ done }: { readonly done: (made: Made) => void }) {
  const [kind, setKind] = useState<Kind>('api');
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const about = session.value;
  const roles = typeof about === 'object' ? about.roles : [];
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = textIn(form, 'others').split(/[\s,]+/);
    const systems = [...new Set([...form.getAll('system').map(String), ...typed])].filter(
      (each) => each !== '',
    );
    if (kind === 'floorplans' && systems.length === 0) {
      setProblem(new Error(NO_SYSTEM));
      return;
    }
    const [name, role, expires] = [textIn(form, 'name'), textIn(form, 'role'), textIn(form, 'expires')];
    setBusy(true);
    setProblem(undefined);
    try {
      done((await post<Made>('/keys', { name, kind, role, systems, expires })).body);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <form class="new-key" onSubmit={submit}>
      <div class="field">
        <label for="key-name">Name</label>
        <input
          // The dialog gives the initial focus to this field, instead of to its close button.
          ref={(input) => input?.setAttribute('autofocus', '')}
          id="key-name"
          name="name"
          required
          autocomplete="off"
          aria-describedby="key-name-help"
        />
        <p id="key-name-help" class="hint">
          Who will use it, such as the name of a vendor
        </p>
      </div>
      <div class="field">
        <label for="key-kind">Kind</label>
        <select
          id="key-kind"
          value={kind}
          aria-describedby="key-kind-help"
          onChange={({ currentTarget }) => {
            const chosen = Object.keys(KINDS).find((each) => each === currentTarget.value);
            setKind(isKind(chosen) ? chosen : 'api');
          }}
        >
          {Object.keys(KINDS).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <p id="key-kind-help" class="hint">
          {KINDS[kind]}
        </p>
      </div>
      <div class="field">
        <label for="key-role">Role</label>
        <select id="key-role" name="role" aria-describedby="key-role-help">
          {roles.map((each) => (
            <option key={each} selected={each === 'idx'}>
              {each}
            </option>
          ))}
        </select>
        <p id="key-role-help" class="hint">
          {kind === 'admin'
            ? 'Without effect: an operator sees everything'
            : 'Which listings and fields it sees; private sees all'}
        </p>
      </div>
      <KeySystems isNeeded={kind === 'floorplans'} />
      <div class="field">
        <label for="key-expires">Expires</label>
        <input
          id="key-expires"
          name="expires"
          type="date"
          min={new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}
          aria-describedby="key-expires-help"
        />
        <p id="key-expires-help" class="hint">
          At the start of that day in UTC; empty: never
        </p>
      </div>
      {problem === undefined ? null : <Problem error={problem} />}
      <p>
        <button type="submit" disabled={isBusy}>
          Make the key
        </button>
      </p>
    </form>
  );
}

const isKind = (text: string | undefined): text is Kind => text !== undefined && Object.hasOwn(KINDS, text);

interface Organizations {
  readonly value: readonly {
    readonly OrganizationUniqueId?: string;
    readonly OrganizationName?: string | null;
  }[];
}

const ORGANIZATIONS = pathSeenBy('role/private', 'api', '/Reso/OData/OUID?$top=50');

/** The systems to which a key is restricted: those that the store has as organizations, and others by their identifiers. */
function KeySystems({ isNeeded }: { readonly isNeeded: boolean }) {
  const [asked] = useAnswer<Organizations>(ORGANIZATIONS);
  const known = asked.kind === 'loaded' ? asked.value.body.value : [];
  return (
    <fieldset>
      <legend>Systems</legend>
      {known.map(({ OrganizationUniqueId: id = '', OrganizationName: name }) => (
        <label key={id} class="system">
          <input type="checkbox" name="system" value={id} />
          {id} {typeof name === 'string' ? <span class="hint">{name}</span> : null}
        </label>
      ))}
      <div class="field">
        <label for="key-others">
          {known.length === 0 ? 'Their identifiers' : 'Others, by their identifiers'}
        </label>
        <input id="key-others" name="others" autocomplete="off" aria-describedby="key-systems-help" />
        <p id="key-systems-help" class="hint">
          {isNeeded
            ? 'At least one'
            : 'Listings of other systems are hidden; if you name none, all systems are visible'}
        </p>
      </div>
    </fieldset>
  );
}
