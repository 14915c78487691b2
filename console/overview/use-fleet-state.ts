/** The state of the fleet: sites, and what needs an operator. The start page shows it, and every tab's title counts it. */
import { useMemo, useState } from 'react';
import {
  type CertificateSigningRequest,
  requestPhase,
} from '../../shared/kube/access/certificate-signing-request.js';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { JOIN_REQUESTS } from '../api/join-requests.js';
import { useLiveList } from '../api/live-list.js';
import { type ScopedList, useScopedList } from '../api/namespace-choice.js';
import { useSiteTotals } from '../availability/use-fleet-availability.js';
import { stalledRollouts } from '../fleet/host-issues.js';
import { useFleetContext } from '../fleet/issue-list.js';
import { LabelCounts } from '../fleet/table/label-counts.js';
import { waitsForOperator } from '../jobs/job-text.js';
import { hostHealth } from '../layout/status/host-health.js';
import { type Cause, fleetCauses } from './fleet-causes.js';
import { type SiteSummary, siteLabelOf, summariseSites } from './site-summary.js';

const FLEET_API = '/apis/fleet.everynode.dev/v1';
export const HOSTS = `${FLEET_API}/hosts`;
/** Few, however large the fleet is. */
export const TROUBLED_HOSTS = `${HOSTS}?troubled=true`;

interface FleetState {
  /** Labels that can name a site. */
  labels: readonly string[];
  siteLabel: string | undefined;
  sites: readonly SiteSummary[];
  /** Rollouts that need an operator. */
  stalled: readonly Rollout[];
  /** Jobs that need an operator. */
  jobs: readonly DaemonJob[];
  causes: readonly Cause[];
  /** False until the number of hosts of each site is known: half of them decides whether the site is offline. */
  areSitesKnown: boolean;
}

/** `by`: the label that the user chose for sites. `areAll`: false if `hosts` are only those that need an operator. */
export function useFleetState(
  hosts: readonly Host[],
  rollouts: readonly Rollout[],
  by: string | null,
  areAll = true,
): FleetState {
  const context = useFleetContext();
  const [labelCounts] = useState(() => new LabelCounts());
  // The hosts of one site have one value of the label, which would not count as a label of sites.
  const labels = useMemo(
    () => (areAll ? labelCounts.of(hosts) : [...new Set(hosts.flatMap(labelKeysOf))]),
    [labelCounts, hosts, areAll],
  );
  const siteLabel = siteLabelOf(labels, by);
  const needsTotals = !areAll && siteLabel !== undefined && hasSeveralOffline(hosts);
  const totals = useSiteTotals(siteLabel, needsTotals);
  const sites = useMemo(() => {
    if (siteLabel === undefined) return [];
    if (areAll) return summariseSites(hosts, siteLabel);
    // Without the totals, a site would be offline as soon as two of its hosts are.
    return needsTotals && typeof totals === 'function' ? summariseSites(hosts, siteLabel, totals) : [];
  }, [hosts, siteLabel, areAll, needsTotals, totals]);
  const areSitesKnown = !needsTotals || totals !== 'loading';
  const stalled = useMemo(() => stalledRollouts(rollouts), [rollouts]);
  const pendingJoins = usePendingJoins();
  const jobs = useWaitingJobs();
  const causes = useMemo(
    () => fleetCauses({ hosts, sites, siteLabel, rollouts: stalled, jobs, pendingJoins, context }),
    [hosts, sites, siteLabel, stalled, jobs, pendingJoins, context],
  );
  return { labels, siteLabel, sites, stalled, jobs, causes, areSitesKnown };
}

function labelKeysOf({ metadata }: Host): string[] {
  return Object.keys(metadata.labels ?? {});
}

/** A single host is no site. */
function hasSeveralOffline(hosts: readonly Host[]): boolean {
  return hosts.filter((host) => hostHealth(host) === 'offline').length > 1;
}

/** Returns the rollouts that the user may see, without past ones. */
export function usePresentRollouts(): ScopedList<Rollout> {
  const rollouts = useScopedList<Rollout>(FLEET_API, 'rollouts');
  const objects = useMemo(
    () => rollouts.objects.filter(({ metadata }) => metadata.labels?.[PAST_ROLLOUT_LABEL] === undefined),
    [rollouts.objects],
  );
  return { ...rollouts, objects };
}

/** Returns the number of hosts that wait for approval to join. 0 for users who may not list them. */
function usePendingJoins(): number {
  const { objects } = useLiveList<CertificateSigningRequest>(JOIN_REQUESTS);
  return useMemo(() => objects.filter((each) => requestPhase(each) === 'pending').length, [objects]);
}

/** Returns the jobs that wait for an operator. None for users who may not list them. */
function useWaitingJobs(): readonly DaemonJob[] {
  const { objects } = useScopedList<DaemonJob>(FLEET_API, 'daemonjobs');
  return useMemo(() => objects.filter(waitsForOperator), [objects]);
}
