/** The state of the whole fleet in one sentence. Pure. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { type HostHealth, hostHealth } from '../layout/status/host-health.js';
import type { ShownStatus, StatusTone } from '../layout/status/object-status.js';
import type { SiteSummary } from './site-summary.js';

type HealthCounts = Readonly<Record<HostHealth, number>>;

export function countHealth(hosts: readonly Host[]): HealthCounts {
  const counts = { failing: 0, notReady: 0, offline: 0, pressure: 0, cordoned: 0, healthy: 0 };
  for (const host of hosts) counts[hostHealth(host)] += 1;
  return counts;
}

/** `rollouts` and `jobs` wait for an operator. */
export function fleetSentence(
  counts: HealthCounts,
  sites: readonly SiteSummary[],
  rollouts: readonly Rollout[],
  jobs: number,
): ShownStatus {
  const failed = rollouts.filter(({ status }) => status?.phase === 'Failed').length;
  const waiting = rollouts.length - failed;
  const parts: [tone: StatusTone, count: number, text: string][] = [
    ['failed', failed, countText(failed, 'rollout failed', 'rollouts failed')],
    ['failed', counts.failing, countText(counts.failing, 'host has failing Pods', 'hosts have failing Pods')],
    ['failed', counts.notReady, countText(counts.notReady, 'host is not ready', 'hosts are not ready')],
    [
      'offline',
      counts.offline,
      `${countText(counts.offline, 'host is offline', 'hosts are offline')}${siteText(sites)}`,
    ],
    ['waiting', waiting, countText(waiting, 'rollout waits for you', 'rollouts wait for you')],
    ['waiting', jobs, countText(jobs, 'job waits for you', 'jobs wait for you')],
    [
      'waiting',
      counts.pressure,
      countText(counts.pressure, 'host is under pressure', 'hosts are under pressure'),
    ],
  ];
  const present = parts.filter(([, count]) => count > 0);
  const [worst] = present;
  if (!worst) return { tone: 'ok', word: wellText(counts) };
  return { tone: worst[0], word: `${joined(present.map(([, , text]) => text))}.` };
}

/** Names the site that is offline, so that the number does not hide the cause. */
function siteText(sites: readonly SiteSummary[]): string {
  const [first, ...more] = sites.filter(
    ({ offlineSince, site }) => offlineSince !== undefined && site !== undefined,
  );
  if (!first) return '';
  const others = more.length > 0 ? `, and ${countText(more.length, 'more site')}` : '';
  return ` (${first.site}: ${first.counts.offline ?? 0} of ${first.total}${others})`;
}

function wellText({ healthy, cordoned }: HealthCounts): string {
  const total = healthy + cordoned;
  if (total === 0) return 'No hosts yet.';
  if (healthy === 0 || cordoned === 0) {
    const word = cordoned === 0 ? 'healthy' : 'cordoned';
    return total === 1 ? `The host is ${word}.` : `All ${total} hosts are ${word}.`;
  }
  return `${healthy} of ${total} hosts ${healthy === 1 ? 'is' : 'are'} healthy, ${countText(cordoned, 'is', 'are')} cordoned.`;
}

function joined(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  const text = texts.length > 1 ? `${texts.slice(0, -1).join(', ')} and ${last}` : last;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
