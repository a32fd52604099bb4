/** The log-in page: it sends the token of an admin key once and does not keep it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { logIn } from './api.ts';
import { Brand } from './brand.tsx';

/** @param hasEnded whether a session has ended; its page is shown again after the log-in */
export function LogInPage({ hasEnded }: { readonly hasEnded: boolean }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Log in · plat';
    field.current?.focus();
  }, []);
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = event.currentTarget;
    const token = String(new FormData(form).get('token') ?? '').trim();
    setBusy(true);
    setProblem(undefined);
    try {
      await logIn(token);
      form.reset();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
      field.current?.focus();
    }
  };
  return (
    <main class="log-in" id="main">
      <Brand />
      <div class="card">
        <h1>Log in to the console</h1>
        {/* Without the script, the form is sent by POST, too, so that the token never appears in an address. */}
        <form method="post" action="/session" onSubmit={submit}>
          {hasEnded ? (
            <output class="notice">Your session has ended. Log in again to continue where you were.</output>
          ) : null}
          <label for="token">Token of an admin key</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            ref={field}
            aria-describedby="token-help"
          />
          <p id="token-help" class="hint">
            <code>plat demo</code> prints one. For your own store:{' '}
            <code>plat key create --store STORE --name NAME --kind admin</code>
          </p>
          {problem === undefined ? null : (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <button type="submit" disabled={isBusy}>
            {isBusy ? 'Logging in …' : 'Log in'}
          </button>
        </form>
      </div>
    </main>
  );
}
