/** Asks who one is, and for a token when nobody is signed in. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { CallError, call } from '../api/call.js';
import controls from '../layout/controls.module.css';
import { SignInPage } from './sign-in-page.js';

const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

type Standing = 'asking' | 'in' | 'out' | 'unreachable';

/** Shows `children` to those who are signed in. */
export function SignedIn({ children }: { children: ReactNode }) {
  const [standing, setStanding] = useState<Standing>('asking');
  const ask = useCallback(async () => {
    try {
      await call(WHO_AM_I, { method: 'POST', body: REVIEW });
      setStanding('in');
    } catch (error) {
      const isNobody = error instanceof CallError && error.code === 401;
      setStanding(isNobody ? 'out' : 'unreachable');
    }
  }, []);
  useEffect(() => void ask(), [ask]);

  switch (standing) {
    case 'asking':
      return <p role="status">Loading…</p>;
    case 'in':
      return children;
    case 'out':
      return <SignInPage onSignedIn={() => setStanding('in')} />;
    case 'unreachable':
      return (
        <main>
          <p role="alert">The coordinator does not answer.</p>
          <button type="button" className={controls.button} onClick={() => void ask()}>
            Try again
          </button>
        </main>
      );
  }
}
