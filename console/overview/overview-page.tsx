/** Start page: is the fleet all right, and if not, what needs an operator. */
import { useDeferredValue, useMemo, useState } from 'react';
import {
  type CertificateSigningRequest,
  requestPhase,
} from '../../shared/kube/access/certificate-signing-request.js';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { JOIN_REQUESTS } from '../api/join-requests.js';
import { useLiveList } from '../api/live-list.js';
import { useScopedList } from '../api/namespace-choice.js';
import { stalledRollouts } from '../fleet/host-issues.js';
import { useFleetContext } from '../fleet/issue-list.js';
import { NoHosts } from '../fleet/no-hosts.js';
import { LabelCounts } from '../fleet/table/label-counts.js';
import { waitsForOperator } from '../jobs/job-text.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { PageShell } from '../layout/shell/page-shell.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { ActiveRollouts } from './active-rollouts.js';
import { fleetCauses } from './fleet-causes.js';
import { FleetHeadline } from './fleet-headline.js';
import { countHealth, fleetSentence } from './fleet-sentence.js';
import { InboxList } from './inbox-list.js';
import { NamespaceOverview } from './namespace-overview.js';
import classes from './overview-page.module.css';
import { siteLabelOf, summariseSites } from './site-summary.js';
import { SiteTable } from './site-table.js';
import { WindowList } from './window-list.js';

const FLEET_API = '/apis/fleet.everynode.dev/v1';

export function OverviewPage() {
  const hosts = useLiveList<Host>(`${FLEET_API}/hosts`);
  const rollouts = useScopedList<Rollout>(FLEET_API, 'rollouts');
  const present = useMemo(
    () => rollouts.objects.filter(({ metadata }) => metadata.labels?.[PAST_ROLLOUT_LABEL] === undefined),
    [rollouts.objects],
  );
  // A large fleet changes all the time. Input comes first.
  const shown = useDeferredValue(hosts.objects);
  if (hosts.phase === 'refused') return <WithoutHosts rollouts={present} namespace={rollouts.namespace} />;
  // While the coordinator is unreachable, an empty list says nothing about the fleet.
  if (shown.length === 0 && (hosts.phase !== 'live' || hosts.objects.length > 0)) {
    return (
      <PageShell title="Overview">
        <h1>{t('Overview')}</h1>
        <p role="status">Loading the fleet…</p>
      </PageShell>
    );
  }
  return <FleetOverview hosts={shown} rollouts={present} />;
}

function FleetOverview({ hosts, rollouts }: { hosts: readonly Host[]; rollouts: readonly Rollout[] }) {
  const [query, setQuery] = useUrlQuery();
  const context = useFleetContext();
  const [labelCounts] = useState(() => new LabelCounts());
  const labels = useMemo(() => labelCounts.of(hosts), [labelCounts, hosts]);
  const siteLabel = siteLabelOf(labels, query.get('by'));
  const sites = useMemo(
    () => (siteLabel === undefined ? [] : summariseSites(hosts, siteLabel)),
    [hosts, siteLabel],
  );
  const counts = useMemo(() => countHealth(hosts), [hosts]);
  const stalled = useMemo(() => stalledRollouts(rollouts), [rollouts]);
  const pendingJoins = usePendingJoins();
  const jobs = useWaitingJobs();
  const causes = useMemo(
    () => fleetCauses({ hosts, sites, siteLabel, rollouts: stalled, jobs, pendingJoins, context }),
    [hosts, sites, siteLabel, stalled, jobs, pendingJoins, context],
  );
  // Of causes that can wait, such as another version of the agent, the tab's title says nothing.
  const urgent = causes.filter(({ tone }) => tone !== 'over').length;
  return (
    <PageShell title={urgent > 0 ? `(${urgent}) Overview` : 'Overview'}>
      <h1>{t('Overview')}</h1>
      <FleetHeadline
        status={fleetSentence(counts, sites, stalled, jobs.length)}
        counts={counts}
        total={hosts.length}
      />
      {hosts.length === 0 && <NoHosts />}
      <div className={classes.columns}>
        <div className={classes.side}>
          <InboxList causes={causes} />
          {hosts.length > 0 && (
            <SiteTable {...{ sites, labels, siteLabel }} onLabel={(label) => setQuery('by', label)} />
          )}
        </div>
        <div className={classes.side}>
          <ActiveRollouts rollouts={rollouts} />
          <WindowList hosts={hosts} siteLabel={siteLabel} />
        </div>
      </div>
    </PageShell>
  );
}

/** Returns the number of hosts that wait for approval to join. 0 for users who may not list them. */
function usePendingJoins(): number {
  const { objects } = useLiveList<CertificateSigningRequest>(JOIN_REQUESTS);
  return useMemo(() => objects.filter((each) => requestPhase(each) === 'pending').length, [objects]);
}

/** Returns the jobs that wait for an operator. None for users who may not list them. */
function useWaitingJobs(): readonly DaemonJob[] {
  const { objects } = useLiveList<DaemonJob>(`${FLEET_API}/daemonjobs`);
  return useMemo(() => objects.filter(waitsForOperator), [objects]);
}

interface WithoutHostsProps {
  rollouts: readonly Rollout[];
  namespace: string | undefined;
}

/** The page of users who may see workloads, but no hosts. */
function WithoutHosts({ rollouts, namespace }: WithoutHostsProps) {
  return (
    <PageShell title="Overview">
      <h1>{t('Overview')}</h1>
      <NamespaceOverview rollouts={rollouts} namespace={namespace} />
      <NotAllowed what="hosts" resource="hosts.fleet.everynode.dev" />
    </PageShell>
  );
}
