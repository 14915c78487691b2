/** Loads the user, and shows the sign-in page without a session. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { ApiCallError, SIGNED_OUT } from '../api/api-call.js';
import { loadUser } from '../api/signed-in-user.js';
import controls from '../layout/controls.module.css';
import { t } from '../texts/translate.js';
import { repeatAttempts } from './repeated-attempts.js';
import { restoreReturnPath } from './return-path.js';
import { SignInPage } from './sign-in-page.js';

/** Pause between two attempts while the coordinator is unreachable, for example during a failover. */
const RETRY_MS = 2_000;

/** `ended`: the user was signed in, and the session is gone. */
type SessionState = 'asking' | 'in' | 'out' | 'ended' | 'unreachable';

export function SignInGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>('asking');
  const ask = useCallback(async () => {
    try {
      await loadUser();
      restoreReturnPath();
      setState('in');
    } catch (error) {
      const isUnauthenticated = error instanceof ApiCallError && error.code === 401;
      setState(isUnauthenticated ? 'out' : 'unreachable');
    }
  }, []);
  useEffect(() => void ask(), [ask]);
  useEffect(() => {
    if (state !== 'unreachable') return;
    return repeatAttempts(ask, RETRY_MS);
  }, [state, ask]);
  useEffect(() => {
    const leave = () => setState((now) => (now === 'in' || now === 'ended' ? 'ended' : 'out'));
    addEventListener(SIGNED_OUT, leave);
    return () => removeEventListener(SIGNED_OUT, leave);
  }, []);

  switch (state) {
    case 'asking':
      return <p role="status">{t('Loading…')}</p>;
    case 'in':
      return children;
    case 'out':
      return <SignInPage hasEnded={false} onSignedIn={() => void ask()} />;
    case 'ended':
      // Another user may sign in, for whom the known permissions do not hold.
      return <SignInPage hasEnded onSignedIn={() => location.reload()} />;
    case 'unreachable':
      return (
        <main>
          <p role="alert">{t('The coordinator is unreachable.')}</p>
          <button type="button" className={controls.button} onClick={() => void ask()}>
            {t('Try again')}
          </button>
        </main>
      );
  }
}
