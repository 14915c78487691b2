/** The fleet by site: a site is a value of one label. Pure. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { ownValue } from '../../shared/kube/objects/label-syntax.js';
import { type HostHealth, hostHealth } from '../layout/status/host-health.js';

/** Labels that name a site, the usual ones first. */
const SITE_LABELS = [
  'site',
  'store',
  'location',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'region',
];

/** Name of the site of hosts without the label. */
export const WITHOUT_SITE = 'without a site';

export interface SiteSummary {
  /** Value of the label. Undefined for hosts without it. */
  site: string | undefined;
  total: number;
  counts: Readonly<Partial<Record<HostHealth, number>>>;
  /** Set if at least half of the hosts are offline: the time at which half of them were. */
  offlineSince?: string;
  /** Versions of the agent, the most frequent first. */
  agents: readonly { version: string; count: number }[];
}

/** Returns the chosen label if hosts have it, or the first usual one. Undefined if there is none. */
export function siteLabelOf(labels: readonly string[], chosen: string | null): string | undefined {
  if (chosen !== null && labels.includes(chosen)) return chosen;
  return SITE_LABELS.find((label) => labels.includes(label));
}

/**
 * Returns sites, those with most problems first. `totalOf` returns the number of hosts of a site if `hosts` are not all.
 */
export function summariseSites(
  hosts: readonly Host[],
  label: string,
  totalOf?: (site: string | undefined) => number | undefined,
): SiteSummary[] {
  const groups = new Map<string | undefined, Host[]>();
  for (const host of hosts) {
    const site = ownValue(host.metadata.labels, label);
    const group = groups.get(site);
    if (group) group.push(host);
    else groups.set(site, [host]);
  }
  return [...groups]
    .map(([site, members]) => summaryOf(site, members, totalOf?.(site) ?? members.length))
    .sort(worstFirst);
}

function summaryOf(site: string | undefined, hosts: readonly Host[], total: number): SiteSummary {
  const counts: Partial<Record<HostHealth, number>> = {};
  const versions = new Map<string, number>();
  for (const host of hosts) {
    const health = hostHealth(host);
    counts[health] = (counts[health] ?? 0) + 1;
    const { agentVersion } = host.status;
    if (agentVersion) versions.set(agentVersion, (versions.get(agentVersion) ?? 0) + 1);
  }
  const since = offlineSince(hosts, total);
  const agents = [...versions].map(([version, count]) => ({ version, count }));
  agents.sort((a, b) => b.count - a.count || (a.version < b.version ? -1 : 1));
  return {
    site,
    total,
    counts,
    ...(since === undefined ? {} : { offlineSince: since }),
    agents,
  };
}

/**
 * A site counts as offline if at least two hosts and half of its hosts are. The first host may have been offline for
 * weeks, so the time is that at which the half was reached.
 */
function offlineSince(hosts: readonly Host[], total: number): string | undefined {
  const times = hosts
    .filter((host) => hostHealth(host) === 'offline')
    .map(({ status }) => status.since ?? '');
  const half = Math.max(2, Math.ceil(total / 2));
  return times.sort()[half - 1];
}

/** Hosts that need an operator. Maintenance is no problem. */
function problemCount({ counts, total }: SiteSummary): number {
  return total - (counts.healthy ?? 0) - (counts.cordoned ?? 0);
}

function worstFirst(a: SiteSummary, b: SiteSummary): number {
  const order = problemCount(b) - problemCount(a);
  if (order !== 0) return order;
  if (a.site === undefined || b.site === undefined) return a.site === undefined ? 1 : -1;
  return a.site.localeCompare(b.site, undefined, { numeric: true });
}
