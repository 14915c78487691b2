/** The inbox: what needs an operator, one item for each cause. Pure. */
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { findCondition } from '../../shared/kube/objects/conditions.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { causesOfHost, failingCause, UNLISTED_CAUSE } from '../fleet/failing-cause.js';
import { type FleetContext, ISSUE_NAMES, ISSUES, type Issue, issuesOf } from '../fleet/host-issues.js';
import { jobRollout, jobStatus } from '../jobs/job-text.js';
import { hostHealth } from '../layout/status/host-health.js';
import { rolloutStatus, type StatusTone } from '../layout/status/object-status.js';
import { type SiteSummary, WITHOUT_SITE } from './site-summary.js';

export interface Cause {
  /** Stable while the cause lasts. */
  id: string;
  tone: StatusTone;
  title: string;
  detail?: string;
  since?: string;
  /** Where the affected objects are listed. */
  href: string;
  /** Set for rollouts, which have actions. */
  rollout?: Rollout;
  /** Set for jobs, which have actions. */
  job?: DaemonJob;
}

/** Names in a detail. More are counted. */
const MAX_NAMES = 3;

interface FleetState {
  hosts: readonly Host[];
  /** By `siteLabel`. Empty without a label. */
  sites: readonly SiteSummary[];
  siteLabel: string | undefined;
  rollouts: readonly Rollout[];
  /** Jobs that wait for an operator. */
  jobs: readonly DaemonJob[];
  /** Hosts that wait for an approval to join. */
  pendingJoins: number;
  context: FleetContext;
}

/** Returns causes, the most severe first. */
export function fleetCauses(state: FleetState): Cause[] {
  const { rollouts } = state;
  return [
    ...rollouts.filter(({ status }) => status?.phase === 'Failed').map(rolloutCause),
    ...offlineSites(state),
    ...failingCauses(state.hosts),
    ...unlistedCause(state.hosts),
    ...notReadyCauses(state.hosts),
    ...singleOffline(state),
    ...rollouts.filter(({ status }) => status && status.phase !== 'Failed').map(rolloutCause),
    ...state.jobs.map(jobCause),
    ...joinCause(state.pendingJoins),
    ...otherIssues(state),
  ];
}

function rolloutCause(rollout: Rollout): Cause {
  const { metadata, status } = rollout;
  const { tone, word } = rolloutStatus(status?.phase);
  const { namespace = '', name, uid } = metadata;
  const stalled = findCondition(status?.conditions, 'Stalled');
  const since =
    (stalled?.status === 'True' ? stalled.lastTransitionTime : undefined) ??
    status?.endTime ??
    status?.startTime;
  return {
    ...{
      id: `rollout ${uid ?? `${namespace}/${name}`}`,
      tone,
      title: `Rollout of ${name}: ${uncapitalised(word)}`,
      rollout,
    },
    ...(status?.message ? { detail: status.message } : {}),
    ...(since ? { since } : {}),
    href: `/rollouts/${namespace}/${name}`,
  };
}

function jobCause(job: DaemonJob): Cause {
  const { namespace = '', name, uid } = job.metadata;
  const { tone, word } = jobStatus(job);
  const message = jobRollout(job)?.message;
  return {
    ...{
      id: `job ${uid ?? `${namespace}/${name}`}`,
      tone,
      title: `Job ${name}: ${uncapitalised(word)}`,
      job,
    },
    ...(message ? { detail: message } : {}),
    ...(job.status?.startTime ? { since: job.status.startTime } : {}),
    href: `/jobs/${namespace}/${name}`,
  };
}

function uncapitalised(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}

function offlineSites({ sites, siteLabel }: FleetState): Cause[] {
  return sites.flatMap(({ site, total, counts, offlineSince }) => {
    if (offlineSince === undefined || site === undefined) return [];
    const offline = counts.offline ?? 0;
    const title = offline === total ? `Site ${site} is offline` : `Site ${site} is mostly offline`;
    return {
      ...{ id: `site ${site}`, tone: 'offline', title, since: offlineSince },
      detail: `${offline} of ${countText(total, 'host')}. Their Pods keep running; changes arrive when they reconnect.`,
      href: hostsHref('condition=offline', `${siteLabel}=${site}`),
    };
  });
}

/** Offline hosts of sites that are not offline as a whole, in one item. */
function singleOffline({ hosts, sites, siteLabel = '' }: FleetState): Cause[] {
  const offlineAsWhole = new Set(
    sites.filter(({ offlineSince }) => offlineSince !== undefined).map(({ site }) => site),
  );
  // Hosts without a site are never offline as a site.
  offlineAsWhole.delete(undefined);
  const others = hosts.filter(
    (host) => hostHealth(host) === 'offline' && !offlineAsWhole.has(host.metadata.labels?.[siteLabel]),
  );
  if (others.length === 0) return [];
  const cause = hostsCause(
    'offline hosts',
    'offline',
    others,
    `${countText(others.length, 'host is', 'hosts are')} offline`,
  );
  // The list has the same hosts as the count. `notin` also selects hosts without the label.
  const without = offlineAsWhole.size > 0 ? `${siteLabel} notin (${[...offlineAsWhole].join(',')})` : '';
  return [
    {
      ...cause,
      href: hostsHref('condition=offline', without),
      ...earliest(others.map(({ status }) => status.since)),
    },
  ];
}

/** Pods that fail alike, by workload. */
function failingCauses(hosts: readonly Host[]): Cause[] {
  const groups = new Map<
    string,
    { title: string; hosts: Host[]; message: string; since: (string | undefined)[] }
  >();
  for (const host of hosts) {
    if (hostHealth(host) !== 'failing') continue;
    for (const pod of host.status.failing) {
      const { id, workload, words } = failingCause(pod);
      const group = groups.get(id) ?? {
        title: `${workload}: ${words}`,
        hosts: [],
        message: pod.message,
        since: [],
      };
      groups.set(id, group);
      if (group.hosts.at(-1) !== host) group.hosts.push(host);
      group.since.push(pod.since);
    }
  }
  return [...groups]
    .sort(([, a], [, b]) => b.hosts.length - a.hosts.length)
    .map(([id, group]) => ({
      ...{ id: `failing ${id}`, tone: 'failed' },
      title: `${group.title} on ${countText(group.hosts.length, 'host')}`,
      detail: `${namesText(group.hosts)}: ${withoutPodName(group.message)}`,
      href: `/hosts?cause=${encodeURIComponent(id)}`,
      ...earliest(group.since),
    }));
}

/** Failing hosts whose Pods the user may not see. Without it the inbox would be empty under a red headline. */
function unlistedCause(hosts: readonly Host[]): Cause[] {
  const affected = hosts.filter((host) => causesOfHost(host).includes(UNLISTED_CAUSE));
  if (affected.length === 0) return [];
  const title = `${countText(affected.length, 'host has', 'hosts have')} ${UNLISTED_CAUSE}`;
  const cause = hostsCause('failing unlisted', 'failed', affected, title);
  return [{ ...cause, href: `/hosts?cause=${encodeURIComponent(UNLISTED_CAUSE)}` }];
}

function notReadyCauses(hosts: readonly Host[]): Cause[] {
  const affected = hosts.filter((host) => hostHealth(host) === 'notReady');
  if (affected.length === 0) return [];
  const title = `${countText(affected.length, 'host is', 'hosts are')} not ready`;
  const cause = hostsCause('not ready', 'failed', affected, title);
  return [
    {
      ...cause,
      href: hostsHref('condition=notReady'),
      ...earliest(affected.map(({ status }) => status.since)),
    },
  ];
}

function joinCause(pending: number): Cause[] {
  if (pending === 0) return [];
  const title = `${countText(pending, 'host waits', 'hosts wait')} for approval to join`;
  return [{ id: 'joins', tone: 'waiting', title, href: '/onboarding' }];
}

function otherIssues({ hosts, context }: FleetState): Cause[] {
  const affected = new Map<Issue, Host[]>(ISSUES.map((issue) => [issue, []]));
  for (const host of hosts) for (const issue of issuesOf(host, context)) affected.get(issue)?.push(host);
  return [...affected].flatMap(([issue, list]) => {
    if (list.length === 0) return [];
    const tone = issue === 'skew' ? 'over' : 'waiting';
    const title = `${countText(list.length, 'host')} ${ISSUE_NAMES[issue]}`;
    return { ...hostsCause(issue, tone, list, title), href: hostsHref(`issue=${issue}`) };
  });
}

function hostsCause(
  id: string,
  tone: StatusTone,
  hosts: readonly Host[],
  title: string,
): Omit<Cause, 'href'> {
  return { id, tone, title, detail: namesText(hosts) };
}

function namesText(hosts: readonly Host[]): string {
  const names = hosts.slice(0, MAX_NAMES).map(({ metadata }) => metadata.name);
  const more = hosts.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Removes what only concerns one Pod from the kubelet's message of a crash loop. */
function withoutPodName(message: string): string {
  return message.replace(/ \(back-off \S+ restarting failed container=.*\)$/, '');
}

function earliest(times: readonly (string | undefined)[]): { since?: string } {
  const [since] = times.filter((time) => time !== undefined).sort();
  return since === undefined ? {} : { since };
}

function hostsHref(query: string, filter = ''): string {
  return `/hosts?${query}${filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`}`;
}

export function siteName({ site }: SiteSummary): string {
  return site ?? WITHOUT_SITE;
}
