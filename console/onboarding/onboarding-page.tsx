/** Onboarding page: join command, hosts that wait for approval, and joined hosts. */
import { useEffect, useState } from 'react';
import type { JoinAddress } from '../../shared/kube/access/join-command.js';
import { ACCESS, useAreChecksLoaded, useIsAllowed } from '../api/access-checks.js';
import { callApi } from '../api/api-call.js';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { JoinForm } from './join-form.js';
import { JoinedHosts } from './joined-hosts.js';
import { PendingHosts } from './pending-hosts.js';
import { TokenList } from './token-list.js';

const JOIN_ADDRESS = '/apis/fleet.everynode.dev/v1/joinaddress';

export function OnboardingPage() {
  const mayMake = useIsAllowed(ACCESS.makeTokens);
  const mayRead = useIsAllowed(ACCESS.readSecrets);
  const { address, problem } = useJoinAddress();
  const isKnown = useAreChecksLoaded([ACCESS.makeTokens, ACCESS.readSecrets]);
  if (!isKnown || !(address || problem)) {
    return (
      <PageShell>
        <h1>Onboarding</h1>
        <p role="status">Loading…</p>
      </PageShell>
    );
  }
  return (
    <PageShell>
      <h1>Onboarding</h1>
      {problem && <p role="alert">{problem}</p>}
      {mayMake && address && <JoinForm address={address} />}
      {!mayMake && (
        <p className={controls.card}>
          You are not allowed to create join commands. This needs permission to create Secrets in{' '}
          <code>kube-system</code>.
        </p>
      )}
      <PendingHosts isAsked={address?.approval ?? false} />
      <JoinedHosts />
      {mayRead && <TokenList />}
    </PageShell>
  );
}

function useJoinAddress(): { address: JoinAddress | undefined; problem: string } {
  const [address, setAddress] = useState<JoinAddress>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    callApi<JoinAddress>(JOIN_ADDRESS, { signal: abort.signal }).then(setAddress, (error: unknown) => {
      if (!abort.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => abort.abort();
  }, []);
  return { address, problem };
}
