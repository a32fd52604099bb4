/** Revokes a key after confirmation. */
import { useState } from 'preact/hooks';
import { ask } from '../../app/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/states.tsx';
import { type Key, shownName } from './key-facts.ts';

export function RevokeKey({ of, close }: { readonly of: Key; readonly close: () => void }) {
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const revoke = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await ask(`/keys/${encodeURIComponent(of.id)}`, { method: 'DELETE' });
      close();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Revoke ${shownName(of)}?`} close={close}>
      <p>
        Requests with this {of.kind} key (<span class="mono">{of.id}</span>) will be refused from now on, in
        every process. This cannot be undone; a new key has a new token.
      </p>
      {of.kind === 'admin' ? <p>If you logged in with this key, you are logged out.</p> : null}
      {problem === undefined ? null : <Problem error={problem} />}
      <p class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={() => void revoke()}>
          Revoke the key
        </button>
        <button type="button" class="quiet" onClick={close}>
          Keep it
        </button>
      </p>
    </Dialog>
  );
}
