/** Sign-in page: by token, or at the configured OpenID Connect issuer. */
import { type FormEvent, useEffect, useId, useState } from 'react';
import { signInErrorText } from '../../shared/kube/access/sign-in-errors.js';
import { ApiCallError, requestApi } from '../api/api-call.js';
import { fetchSignInMethods } from '../api/signed-in-user.js';
import controls from '../layout/controls.module.css';
import { LanguageChoice } from '../layout/shell/language-menu.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { saveReturnPath } from './return-path.js';
import classes from './sign-in-page.module.css';

interface SignInPageProps {
  /** True if the user was signed in until now. */
  hasEnded: boolean;
  /** Called when the session exists. */
  onSignedIn: () => void;
}

export function SignInPage({ hasEnded, onSignedIn }: SignInPageProps) {
  const id = useId();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(refusal);
  const hasIssuer = useHasIssuer();
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem('');
    try {
      await requestApi('/console/session', { method: 'POST', authorization: `Bearer ${token.trim()}` });
      onSignedIn();
    } catch (error) {
      const isWrong = error instanceof ApiCallError && error.code === 401;
      setProblem(isWrong ? t('The coordinator rejected the token.') : String(error));
      setBusy(false);
    }
  };

  return (
    <main className={classes.page}>
      <form className={controls.card} onSubmit={(event) => void submit(event)}>
        <title>{t('Sign in – Everynode')}</title>
        <h1>Everynode</h1>
        {hasEnded && (
          <p role="status">{t('Your session has ended. After signing in, this page is shown again.')}</p>
        )}
        <div className={controls.field}>
          <label htmlFor={id}>{t('Token')}</label>
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
            <RichText
              text="The token of your kubeconfig: <command/> shows it."
              parts={{ command: <code>kubectl config view --minify --raw</code> }}
            />
          </p>
        </div>
        {problem && (
          <p role="alert" className={controls.problem}>
            {problem}
          </p>
        )}
        <button type="submit" className={controls.button} data-main disabled={isBusy}>
          {isBusy ? t('Signing in…') : t('Sign in')}
        </button>
        {hasIssuer && (
          // A normal link outside of the router: the coordinator redirects it to the issuer.
          <a className={controls.button} href="/console/sign-in/oidc" onClick={saveReturnPath}>
            {t('Sign in with your organisation')}
          </a>
        )}
        <LanguageChoice />
        <p className={controls.dim}>{t('With a client certificate in the browser no token is needed.')}</p>
      </form>
    </main>
  );
}

/** Returns the error after a failed sign-in at the issuer. */
function refusal(): string {
  return signInErrorText(new URLSearchParams(location.search).get('refused'));
}

function useHasIssuer(): boolean {
  const [hasIssuer, setHasIssuer] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    fetchSignInMethods(abort.signal).then(
      ({ oidc }) => setHasIssuer(oidc),
      () => undefined,
    );
    return () => abort.abort();
  }, []);
  return hasIssuer;
}
