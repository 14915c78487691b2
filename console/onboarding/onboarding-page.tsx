/** Page to add hosts: join command, hosts that wait for approval, and joined hosts. */
import type { JoinAddress } from '../../shared/kube/access/join-command.js';
import { ACCESS, useAreChecksLoaded, useIsAllowed } from '../api/access-checks.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { Page } from '../layout/shell/page.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { JoinForm } from './join-form.js';
import { JoinedHosts } from './joined-hosts.js';
import { PendingHosts } from './pending-hosts.js';
import { TokenList } from './token-list.js';

const JOIN_ADDRESS = '/apis/fleet.everynode.dev/v1/joinaddress';

export function OnboardingPage() {
  const mayMake = useIsAllowed(ACCESS.makeTokens);
  const mayRead = useIsAllowed(ACCESS.readSecrets);
  const { answer: address, problem } = useApiResource<JoinAddress>(JOIN_ADDRESS, 'once');
  const isKnown = useAreChecksLoaded([ACCESS.makeTokens, ACCESS.readSecrets]);
  if (!isKnown || !(address || problem)) {
    return (
      <Page title="Add hosts">
        <h1>{t('Add hosts')}</h1>
        <p role="status">{t('Loading…')}</p>
      </Page>
    );
  }
  return (
    <Page title="Add hosts">
      <h1>{t('Add hosts')}</h1>
      {problem && <p role="alert">{problem}</p>}
      {mayMake && address && <JoinForm address={address} />}
      {!mayMake && (
        <p className={controls.card}>
          <RichText
            text="You are not allowed to create join commands. This needs permission to create Secrets in <namespace/>."
            parts={{ namespace: <code>kube-system</code> }}
          />
        </p>
      )}
      <PendingHosts isAsked={address?.approval ?? false} />
      <JoinedHosts />
      {mayRead && <TokenList />}
    </Page>
  );
}
