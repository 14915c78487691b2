/** Start page: is the fleet all right, and if not, what needs an operator. */
import { useDeferredValue, useMemo } from 'react';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useLiveList } from '../api/live-list.js';
import { useFleetAvailability } from '../availability/use-fleet-availability.js';
import { NoHosts } from '../fleet/no-hosts.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { ActiveRollouts } from './active-rollouts.js';
import { FleetHeadline } from './fleet-headline.js';
import { countHealth, fleetSentence } from './fleet-sentence.js';
import { InboxList } from './inbox-list.js';
import { NamespaceOverview } from './namespace-overview.js';
import classes from './overview-page.module.css';
import { SiteTable } from './site-table.js';
import { HOSTS, useFleetState, usePresentRollouts } from './use-fleet-state.js';
import { WindowList } from './window-list.js';

export function OverviewPage() {
  const hosts = useLiveList<Host>(HOSTS);
  const rollouts = usePresentRollouts();
  // A large fleet changes all the time. Input comes first.
  const shown = useDeferredValue(hosts.objects);
  if (hosts.phase === 'refused')
    return <WithoutHosts rollouts={rollouts.objects} namespace={rollouts.namespace} />;
  // While the coordinator is unreachable, an empty list says nothing about the fleet.
  if (shown.length === 0 && (hosts.phase !== 'live' || hosts.objects.length > 0)) {
    return (
      <Page title="Overview">
        <h1>{t('Overview')}</h1>
        <p role="status">Loading the fleet…</p>
      </Page>
    );
  }
  return <FleetOverview hosts={shown} rollouts={rollouts.objects} />;
}

function FleetOverview({ hosts, rollouts }: { hosts: readonly Host[]; rollouts: readonly Rollout[] }) {
  const [query, setQuery] = useUrlQuery();
  const { labels, siteLabel, sites, stalled, jobs, causes } = useFleetState(hosts, rollouts, query.get('by'));
  const availability = useFleetAvailability(siteLabel);
  const counts = useMemo(() => countHealth(hosts), [hosts]);
  return (
    <Page title="Overview">
      <h1>{t('Overview')}</h1>
      <FleetHeadline
        status={fleetSentence(counts, sites, stalled, jobs.length)}
        counts={counts}
        total={hosts.length}
        availability={availability?.fleet}
      />
      {hosts.length === 0 && <NoHosts />}
      <div className={classes.columns}>
        <div className={classes.side}>
          <InboxList causes={causes} />
          {hosts.length > 0 && (
            <SiteTable
              {...{ sites, labels, siteLabel }}
              availabilityOf={availability?.ofSite}
              onLabel={(label) => setQuery('by', label)}
            />
          )}
        </div>
        <div className={classes.side}>
          <ActiveRollouts rollouts={rollouts} />
          <WindowList hosts={hosts} siteLabel={siteLabel} />
        </div>
      </div>
    </Page>
  );
}

interface WithoutHostsProps {
  rollouts: readonly Rollout[];
  namespace: string | undefined;
}

/** The page of users who may see workloads, but no hosts. */
function WithoutHosts({ rollouts, namespace }: WithoutHostsProps) {
  return (
    <Page title="Overview">
      <h1>{t('Overview')}</h1>
      <NamespaceOverview rollouts={rollouts} namespace={namespace} />
      <NotAllowed what="hosts" resource="hosts.fleet.everynode.dev" />
    </Page>
  );
}
