/** State of an object as one word and one of seven tones. Pure. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { t } from '../../texts/translate.js';
import { HOST_HEALTH_NAMES, type HostHealth } from './host-health.js';

/** What a state asks of an operator. Each tone has one icon and one colour in the whole console. */
export type StatusTone = 'ok' | 'progress' | 'waiting' | 'failed' | 'offline' | 'maintenance' | 'over';

export interface ShownStatus {
  readonly tone: StatusTone;
  readonly word: string;
}

const HEALTH_TONES: Readonly<Record<HostHealth, StatusTone>> = {
  failing: 'failed',
  notReady: 'failed',
  offline: 'offline',
  pressure: 'waiting',
  cordoned: 'maintenance',
  healthy: 'ok',
};

export function hostStatus(health: HostHealth): ShownStatus {
  return { tone: HEALTH_TONES[health], word: HOST_HEALTH_NAMES[health] };
}

const PHASES: Readonly<Record<RolloutPhase, ShownStatus>> = {
  Progressing: { tone: 'progress', word: 'In progress' },
  Soaking: { tone: 'progress', word: 'Soaking' },
  AwaitingApproval: { tone: 'waiting', word: 'Waiting for approval' },
  AwaitingWindow: { tone: 'waiting', word: 'Waiting for a window' },
  AwaitingHosts: { tone: 'waiting', word: 'Waiting for hosts' },
  Paused: { tone: 'waiting', word: 'Paused' },
  Frozen: { tone: 'waiting', word: 'Frozen' },
  Failed: { tone: 'failed', word: 'Failed' },
  RolledBack: { tone: 'failed', word: 'Rolled back' },
  Completed: { tone: 'ok', word: 'Completed' },
  Superseded: { tone: 'over', word: 'Superseded' },
};

/** A Rollout without a status has not been processed by its controller yet. */
export function rolloutStatus(phase: RolloutPhase | undefined): ShownStatus {
  return phase ? PHASES[phase] : { tone: 'progress', word: 'Not processed yet' };
}

/** Reasons of waiting containers that are part of a normal start. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** The first that applies: Terminating, waiting reason, not ready, status reason, phase, like kubectl's STATUS. */
export function podStatus({ metadata, status }: Pod): ShownStatus {
  if (metadata.deletionTimestamp) return { tone: 'progress', word: 'Terminating' };
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = statuses.map(({ state }) => state?.waiting?.reason).find((reason) => reason);
  if (waiting) return { tone: STARTING.has(waiting) ? 'progress' : 'failed', word: waiting };
  const isReady = (status?.containerStatuses ?? []).every((container) => container.ready);
  if (status?.phase === 'Running' && !isReady) return { tone: 'waiting', word: 'Running, not ready' };
  const word = status?.reason ?? status?.phase ?? 'Pending';
  if (status?.phase === 'Failed') return { tone: 'failed', word };
  if (status?.phase === 'Running') return { tone: 'ok', word };
  return { tone: status?.phase === 'Succeeded' ? 'over' : 'progress', word };
}

/** Compares the counts of the status. Offline hosts count as not available, as in `kubectl get daemonset`. */
export function daemonSetStatus({ metadata, status }: DaemonSet): ShownStatus {
  if (metadata.deletionTimestamp) return { tone: 'progress', word: 'Terminating' };
  if (!status || (metadata.generation ?? 0) > (status.observedGeneration ?? 0))
    return { tone: 'progress', word: 'Not processed yet' };
  const { desiredNumberScheduled: desired, numberAvailable = 0, updatedNumberScheduled = 0 } = status;
  if (desired === 0) return { tone: 'over', word: 'No hosts' };
  if (updatedNumberScheduled < desired)
    return {
      tone: 'progress',
      word: t('{{updated}} of {{total}} updated', { updated: updatedNumberScheduled, total: desired }),
    };
  if (numberAvailable < desired)
    return {
      tone: 'waiting',
      word: t('{{missing}} of {{total}} not available', {
        missing: desired - numberAvailable,
        total: desired,
      }),
    };
  return { tone: 'ok', word: 'Available' };
}

const SEVERITY: readonly StatusTone[] = [
  'failed',
  'offline',
  'waiting',
  'progress',
  'maintenance',
  'ok',
  'over',
];

/** Sort order of states: what an operator must see comes first. */
export function bySeverity(a: ShownStatus, b: ShownStatus): number {
  return SEVERITY.indexOf(a.tone) - SEVERITY.indexOf(b.tone);
}
