/** The log-in: the token of an admin key, sent once. Nothing of it stays in the page. */
import { useState } from 'preact/hooks';
import { logIn } from './api.ts';

export function LogInPage() {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
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
    }
    setBusy(false);
  };
  return (
    <main class="log-in" id="main">
      <h1>plat</h1>
      <form onSubmit={submit}>
        <label for="token">Token of an admin key</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          required
          aria-describedby="token-help"
        />
        <p id="token-help" class="hint">
          <code>plat demo</code> prints one. For a store of yours: <code>plat key create --kind admin</code>
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
    </main>
  );
}
