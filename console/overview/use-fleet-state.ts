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
import type { SiteTotals } from '../availability/site-totals.js';
import { useSiteLabels, useSiteTotals } from '../availability/use-fleet-availability.js';
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
  const { labels, siteLabel, totals } = useSiteNumbers(hosts, by, areAll);
  const sites = useMemo(() => {
    if (siteLabel === undefined) return [];
    if (totals === 'all') return summariseSites(hosts, siteLabel);
    return typeof totals === 'function' ? summariseSites(hosts, siteLabel, totals) : [];
  }, [hosts, siteLabel, totals]);
  const areSitesKnown = totals !== 'loading';
  const stalled = useMemo(() => stalledRollouts(rollouts), [rollouts]);
  const pendingJoins = usePendingJoins();
  const jobs = useWaitingJobs();
  const causes = useMemo(
    () => fleetCauses({ hosts, sites, siteLabel, rollouts: stalled, jobs, pendingJoins, context }),
    [hosts, sites, siteLabel, stalled, jobs, pendingJoins, context],
  );
  return { labels, siteLabel, sites, stalled, jobs, causes, areSitesKnown };
}

interface SiteNumbers {
  labels: readonly string[];
  siteLabel: string | undefined;
  /** `all`: the hosts are those of the whole fleet. `none`: there are no sites that could be offline. */
  totals: SiteTotals | 'all' | 'none';
}

const NO_LABELS: readonly string[] = [];

/**
 * Returns the label of sites, always chosen among the labels of the whole fleet: the hosts of one site have one value of
 * it, so they do not show which label it is.
 */
function useSiteNumbers(hosts: readonly Host[], by: string | null, areAll: boolean): SiteNumbers {
  const [labelCounts] = useState(() => new LabelCounts());
  const counted = useMemo(() => (areAll ? labelCounts.of(hosts) : NO_LABELS), [labelCounts, hosts, areAll]);
  const isWanted = !areAll && hasSeveralOffline(hosts);
  const ofFleet = useSiteLabels(isWanted);
  const labels = areAll ? counted : typeof ofFleet === 'string' ? NO_LABELS : ofFleet;
  const siteLabel = siteLabelOf(labels, by);
  const totals = useSiteTotals(siteLabel, isWanted && siteLabel !== undefined);
  if (areAll) return { labels, siteLabel, totals: 'all' };
  if (!isWanted) return { labels, siteLabel, totals: 'none' };
  if (typeof ofFleet === 'string') return { labels, siteLabel, totals: ofFleet };
  return { labels, siteLabel, totals: siteLabel === undefined ? 'none' : totals };
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
