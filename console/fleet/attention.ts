/** What of the fleet needs a person first: counts by kind of trouble, each with where to look. Pure. */
import type { Host } from '../../shared/kube/host.js';
import type { Rollout, RolloutPhase } from '../../shared/kube/rollout.js';
import { conditionOf, type HostCondition } from './host-condition.js';

/** Kinds of trouble, the worst first. */
export const TROUBLES = [
  'failing',
  'notReady',
  'dark',
  'rollouts',
  'disk',
  'pressure',
  'certificates',
  'skew',
] as const;

export type Trouble = (typeof TROUBLES)[number];

/** As people read them; the number stands before. */
export const TROUBLE_NAMES: Readonly<Record<Trouble, string>> = {
  failing: 'with failing Pods',
  notReady: 'not ready',
  dark: 'dark',
  rollouts: 'rollouts that stand still',
  disk: 'short of disk',
  pressure: 'short of memory or processes',
  certificates: 'whose certificate ends soon',
  skew: 'with another version than the coordinator',
};

/** Agents renew theirs long before: what is this near its end has not been renewed. */
const ENDS_SOON_MS = 14 * 24 * 3_600_000;

const STANDS_STILL: ReadonlySet<RolloutPhase> = new Set(['Failed', 'AwaitingApproval', 'Paused', 'Frozen']);

/** What a host's trouble is judged by besides the host. */
export interface Surroundings {
  /** ms since the epoch. */
  now: number;
  /** The coordinator's, as agents name theirs: `v0.1.0`; "" = not known. */
  version: string;
}

/** Whether a host has this trouble. One that is dark may have others, and nobody knows. */
export function hasTrouble(host: Host, trouble: Trouble, { now, version }: Surroundings): boolean {
  const { pressures, agentVersion, certificateEnds } = host.status;
  switch (trouble) {
    case 'failing':
    case 'notReady':
    case 'dark':
      return conditionOf(host) === (trouble satisfies HostCondition);
    case 'disk':
      return pressures.includes('DiskPressure');
    case 'pressure':
      return pressures.some((pressure) => pressure !== 'DiskPressure');
    case 'certificates':
      return certificateEnds !== undefined && Date.parse(certificateEnds) - now < ENDS_SOON_MS;
    case 'skew':
      return version !== '' && agentVersion !== '' && agentVersion !== version;
    case 'rollouts':
      return false;
  }
}

/** Those that wait for a person. */
export function standingStill(rollouts: readonly Rollout[]): Rollout[] {
  return rollouts.filter(({ status }) => status && STANDS_STILL.has(status.phase));
}

/** How many hosts, or rollouts, have each trouble. */
export function countTroubles(
  hosts: readonly Host[],
  rollouts: readonly Rollout[],
  surroundings: Surroundings,
): Record<Trouble, number> {
  const counts = Object.fromEntries(TROUBLES.map((trouble) => [trouble, 0])) as Record<Trouble, number>;
  for (const host of hosts) {
    for (const trouble of TROUBLES) if (hasTrouble(host, trouble, surroundings)) counts[trouble] += 1;
  }
  counts.rollouts = standingStill(rollouts).length;
  return counts;
}

/** `v1.35.0+everynode.0.1.0` → `v0.1.0`; "" for anything else. */
export function coordinatorVersion(gitVersion: string): string {
  const [, program] = /\+everynode\.(.+)$/.exec(gitVersion) ?? [];
  return program === undefined ? '' : `v${program}`;
}
