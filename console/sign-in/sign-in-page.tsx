/** Signing in with a token that the API takes. */
import { type FormEvent, useId, useState } from 'react';
import { CallError, request } from '../api/call.js';
import controls from '../layout/controls.module.css';
import classes from './sign-in-page.module.css';

/** `onSignedIn` is called when the session stands. */
export function SignInPage({ onSignedIn }: { onSignedIn: () => void }) {
  const id = useId();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem('');
    try {
      await request('/console/session', { method: 'POST', authorization: `Bearer ${token.trim()}` });
      onSignedIn();
    } catch (error) {
      const isWrong = error instanceof CallError && error.code === 401;
      setProblem(isWrong ? 'The coordinator does not know this token.' : String(error));
      setBusy(false);
    }
  };

  return (
    <main className={classes.page}>
      <form className={controls.card} onSubmit={(event) => void submit(event)}>
        <h1>Everynode</h1>
        <div className={controls.field}>
          <label htmlFor={id}>Token</label>
          <input
            id={id}
            className={controls.input}
            type="password"
            autoComplete="current-password"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
            aria-describedby={`${id}-help`}
          />
          <p id={`${id}-help`} className={controls.dim}>
            The one in your kubeconfig: <code>kubectl config view --minify --raw</code> shows it.
          </p>
        </div>
        {problem && (
          <p role="alert" className={controls.problem}>
            {problem}
          </p>
        )}
        <button type="submit" className={controls.button} data-main disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
