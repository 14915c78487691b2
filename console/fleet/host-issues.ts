/** Issues of hosts that do not stop Pods yet, and rollouts that need an operator. Pure. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { certificateEndsSoon } from '../../shared/kube/fleet/troubled-host.js';
import type { Rollout, RolloutPhase } from '../../shared/kube/rollouts/rollout-types.js';

/** Kinds of issues, most severe first. Failing, offline and not ready hosts are conditions of their own. */
export const ISSUES = ['disk', 'pressure', 'certificates', 'clock', 'skew'] as const;

export type Issue = (typeof ISSUES)[number];

/** Labels, shown after the number of hosts. */
export const ISSUE_NAMES: Readonly<Record<Issue, string>> = {
  disk: 'under disk pressure',
  pressure: 'under memory or PID pressure',
  certificates: 'with an expiring certificate',
  clock: 'with a wrong clock',
  skew: 'with another version than the coordinator',
};

const STANDS_STILL: ReadonlySet<RolloutPhase> = new Set([
  'Failed',
  'AwaitingApproval',
  'AwaitingHosts',
  'Paused',
  'Frozen',
]);

export interface FleetContext {
  now: number;
  /** The coordinator's version in the format of agents, such as `v0.1.0`. Empty if unknown. */
  version: string;
}

/** Returns the issues of a host, most severe first. An offline host may have more issues than are known. */
export function issuesOf(host: Host, { now, version }: FleetContext): Issue[] {
  const { pressures, agentVersion, clockSkew } = host.status;
  const found: Issue[] = [];
  if (pressures.includes('DiskPressure')) found.push('disk');
  if (pressures.some((pressure) => pressure !== 'DiskPressure')) found.push('pressure');
  if (certificateEndsSoon(host.status, now)) found.push('certificates');
  if (clockSkew !== undefined) found.push('clock');
  if (version !== '' && agentVersion !== '' && agentVersion !== version) found.push('skew');
  return found;
}

/** Returns the rollouts that wait for an operator. */
export function stalledRollouts(rollouts: readonly Rollout[]): Rollout[] {
  return rollouts.filter(({ status }) => status && STANDS_STILL.has(status.phase));
}

/** Converts `v1.35.0+everynode.0.1.0` to `v0.1.0`. Returns an empty string for any other text. */
export function coordinatorVersion(gitVersion: string): string {
  const [, program] = /\+everynode\.(.+)$/.exec(gitVersion) ?? [];
  return program === undefined ? '' : `v${program}`;
}
