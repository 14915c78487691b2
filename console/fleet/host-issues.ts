/** What of the fleet needs a person first: counts by kind of trouble, each with where to look. Pure. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import type { Rollout, RolloutPhase } from '../../shared/kube/rollouts/rollout-types.js';
import { hostHealth } from './host-health.js';

/** Kinds of trouble, the worst first. */
export const ISSUES = [
  'failing',
  'notReady',
  'dark',
  'rollouts',
  'disk',
  'pressure',
  'certificates',
  'clock',
  'skew',
] as const;

export type Issue = (typeof ISSUES)[number];

/** As people read them; the number stands before. */
const TROUBLE_NAMES: Readonly<Record<Issue, string>> = {
  failing: 'with failing Pods',
  notReady: 'not ready',
  dark: 'dark',
  rollouts: 'rollouts that stand still',
  disk: 'short of disk',
  pressure: 'short of memory or processes',
  certificates: 'whose certificate ends soon',
  clock: 'whose clock is wrong',
  skew: 'with another version than the coordinator',
};

/** What stands behind the number. */
export function issueName(trouble: Issue, count: number): string {
  return trouble === 'rollouts' && count === 1 ? 'rollout that stands still' : TROUBLE_NAMES[trouble];
}

/** Agents renew theirs long before: what is this near its end has not been renewed. */
const ENDS_SOON_MS = 14 * 24 * 3_600_000;

const STANDS_STILL: ReadonlySet<RolloutPhase> = new Set([
  'Failed',
  'AwaitingApproval',
  'AwaitingHosts',
  'Paused',
  'Frozen',
]);

/** What a host's trouble is judged by besides the host. */
export interface FleetContext {
  /** ms since the epoch. */
  now: number;
  /** The coordinator's, as agents name theirs: `v0.1.0`; "" = not known. */
  version: string;
}

/** What a host suffers from, the worst first. One that is dark may have more, and nobody knows. */
export function issuesOf(host: Host, { now, version }: FleetContext): Issue[] {
  const { pressures, agentVersion, certificateEnds, clockSkew } = host.status;
  const condition = hostHealth(host);
  const found: Issue[] = [];
  if (condition === 'failing' || condition === 'notReady' || condition === 'dark') found.push(condition);
  if (pressures.includes('DiskPressure')) found.push('disk');
  if (pressures.some((pressure) => pressure !== 'DiskPressure')) found.push('pressure');
  if (certificateEnds !== undefined && Date.parse(certificateEnds) - now < ENDS_SOON_MS)
    found.push('certificates');
  if (clockSkew !== undefined) found.push('clock');
  if (version !== '' && agentVersion !== '' && agentVersion !== version) found.push('skew');
  return found;
}

/** Those that wait for a person. */
export function stalledRollouts(rollouts: readonly Rollout[]): Rollout[] {
  return rollouts.filter(({ status }) => status && STANDS_STILL.has(status.phase));
}

/** `v1.35.0+everynode.0.1.0` → `v0.1.0`; "" for anything else. */
export function coordinatorVersion(gitVersion: string): string {
  const [, program] = /\+everynode\.(.+)$/.exec(gitVersion) ?? [];
  return program === undefined ? '' : `v${program}`;
}
