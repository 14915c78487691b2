/** Decides what is reported to operators: rollouts that need an operator, and sites that went offline. */
import { countText } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';

export const TOPICS = ['RolloutFailed', 'RolloutAwaitingApproval', 'SiteOffline', 'SiteOnline'] as const;
export type Topic = (typeof TOPICS)[number];

export interface Notification {
  topic: Topic;
  /** One line. */
  title: string;
  /** What happened and what to do. */
  text: string;
  /** Path in the console. */
  page: string;
}

/** A problem has the same id until it is another one. The same problem is reported once. */
export interface Problem {
  id: string;
  notification: Notification;
}

/** Hosts of a site. */
export interface Site {
  hosts: number;
  offline: number;
}

/** More names make a message unreadable. */
const MOST_NAMES = 10;

/** Returns why this rollout needs an operator, or undefined. The operator who paused, froze or
 * aborted it knows already. */
export function rolloutProblem({
  metadata,
  status,
}: Pick<Rollout, 'metadata' | 'status'>): Problem | undefined {
  if (!status) return undefined;
  const { phase, revision, wave, message, failure, aborted } = status;
  const daemonSet = `${metadata.namespace}/${metadata.name}`;
  const page = `rollouts/${daemonSet}`;
  if (phase === 'AwaitingApproval') {
    const title = `Rollout of ${daemonSet} waits for approval`;
    return {
      id: `${revision} ${phase} ${wave}`,
      notification: { topic: 'RolloutAwaitingApproval', title, text: message, page },
    };
  }
  if (aborted || (phase !== 'Failed' && phase !== 'RolledBack')) return undefined;
  const title = `Rollout of ${daemonSet} failed`;
  const text = failure ? `${failure}. ${message}` : message;
  // A failed revision is rolled back later. That is the same problem.
  return { id: `${revision} Failed`, notification: { topic: 'RolloutFailed', title, text, page } };
}

/** True if at least half of a site's hosts are offline. A host that is alone at its site is the site. */
export function isSiteOffline({ hosts, offline }: Site): boolean {
  return offline > 0 && offline * 2 >= hosts;
}

/** Returns the next reports about sites. `reported`: the sites that the last report left as offline. `offline`: as of now. */
export function siteNotifications(
  reported: ReadonlySet<string>,
  offline: ReadonlySet<string>,
  sites: ReadonlyMap<string, Site>,
): Notification[] {
  const gone = [...offline].filter((name) => !reported.has(name)).sort();
  // A site whose last host was removed is not online.
  const back = [...reported].filter((name) => !offline.has(name) && sites.has(name)).sort();
  return [
    ...(gone.length > 0 ? [siteNotification('SiteOffline', 'offline', gone, sites)] : []),
    ...(back.length > 0 ? [siteNotification('SiteOnline', 'online again', back, sites)] : []),
  ];
}

function siteNotification(
  topic: 'SiteOffline' | 'SiteOnline',
  state: string,
  names: readonly string[],
  sites: ReadonlyMap<string, Site>,
): Notification {
  const [first = ''] = names;
  const title =
    names.length === 1 ? `Site ${first} is ${state}` : `${countText(names.length, 'site')} are ${state}`;
  const lines = names.slice(0, MOST_NAMES).map((name) => {
    const { hosts, offline } = sites.get(name) ?? { hosts: 0, offline: 0 };
    return `${name}: ${offline} of ${countText(hosts, 'host')} offline`;
  });
  const hidden = names.length - MOST_NAMES;
  const text = [...lines, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join('\n');
  return { topic, title, text, page: 'hosts' };
}
