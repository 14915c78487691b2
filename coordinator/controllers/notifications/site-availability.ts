/** Counts all hosts and offline hosts of each site. A change of a Node costs constant work. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { isSiteOffline, type Site } from '../../decisions/notifications/problem.js';
import type { ObjectChange } from '../../informers/informer.js';

/** Returns true if the host has lost contact. With a stopped engine Ready is False. A Node without a host has no Ready. */
function isOffline({ status }: Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}

export class SiteAvailability {
  readonly sites = new Map<string, Site>();
  /** When each offline site went offline, in ms of the monotonic clock. */
  readonly offlineSince = new Map<string, number>();
  readonly #label: string;

  /** `label`: the label of a Node with its site. A Node without it belongs to no site. */
  constructor(label: string) {
    this.#label = label;
  }

  /** Returns true if a site went offline or came back. `now` in ms of the monotonic clock. */
  observe({ previous, current }: ObjectChange<Node>, now: number): boolean {
    const from = previous && this.#add(previous, -1);
    const to = current && this.#add(current, 1);
    return [...new Set([from, to])]
      .map((name) => name !== undefined && this.#settle(name, now))
      .some(Boolean);
  }

  /** Returns the sites that have been offline for at least this time. */
  offlineFor(leastMs: number, now: number): Set<string> {
    return new Set([...this.offlineSince].flatMap(([name, since]) => (now - since >= leastMs ? [name] : [])));
  }

  #add(node: Node, count: 1 | -1): string | undefined {
    const name = node.metadata.labels?.[this.#label];
    if (name === undefined) return undefined;
    const { hosts, offline } = this.sites.get(name) ?? { hosts: 0, offline: 0 };
    this.sites.set(name, {
      hosts: hosts + count,
      offline: isOffline(node) ? offline + count : offline,
    });
    return name;
  }

  #settle(name: string, now: number): boolean {
    const site = this.sites.get(name);
    const isOffline = site !== undefined && isSiteOffline(site);
    if (site?.hosts === 0) this.sites.delete(name);
    if (isOffline === this.offlineSince.has(name)) return false;
    if (isOffline) this.offlineSince.set(name, now);
    else this.offlineSince.delete(name);
    return true;
  }
}
