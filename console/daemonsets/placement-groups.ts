/** Where a DaemonSet runs, in five groups that an operator asks for. Pure. */
import { UPDATE_BLOCK_CODES } from '../../shared/kube/rollouts/rollout-reason-codes.js';
import { isNotMeantForHost, reasonStatus } from '../layout/status/reason-status.js';

/** Hosts with the same reason code. */
export interface HostsByReason {
  code: string;
  count: number;
  nodes: readonly string[];
}

interface PlacementGroup {
  name: string;
  count: number;
  reasons: HostsByReason[];
}

/** Hosts whose old Pod goes on running. Those of an offline host are counted as offline. */
const OLDER: ReadonlySet<string> = new Set(UPDATE_BLOCK_CODES.filter((code) => code !== 'DeferredOffline'));

function isOlder(code: string): boolean {
  return OLDER.has(code);
}

/** The order of the groups: what needs an operator comes right after what runs. */
const GROUPS: readonly (readonly [name: string, has: (code: string) => boolean])[] = [
  ['Running', (code) => reasonStatus(code).tone === 'ok'],
  ['Running an older version', isOlder],
  ['Starting or updating', (code) => reasonStatus(code).tone === 'progress'],
  ['Failing', (code) => reasonStatus(code).tone === 'failed'],
  ['Blocked', (code) => reasonStatus(code).tone === 'waiting'],
  ['Offline', (code) => reasonStatus(code).tone === 'offline'],
  ['Not selected', isNotMeantForHost],
];

/** Returns the groups that have hosts. */
export function placementGroups(reasons: readonly HostsByReason[]): PlacementGroup[] {
  const nameOf = (code: string) =>
    GROUPS.find(([, has]) => (OLDER.has(code) ? has === isOlder : has(code)))?.[0];
  return GROUPS.map(([name]) => {
    const own = reasons.filter(({ code, count }) => count > 0 && nameOf(code) === name);
    return { name, count: own.reduce((sum, { count }) => sum + count, 0), reasons: own };
  }).filter(({ count }) => count > 0);
}

/** Longer filters make an address that browsers and proxies refuse. */
const MOST_FILTERED = 60;

/** Path of the list of these hosts, or undefined if there are too many to name. */
export function hostsPath(nodes: readonly string[]): string | undefined {
  if (nodes.length === 0 || nodes.length > MOST_FILTERED) return undefined;
  return `/hosts?filter=${encodeURIComponent(`kubernetes.io/hostname in (${nodes.join(',')})`)}`;
}
