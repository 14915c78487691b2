/** In which situations leaders change: figures that show whether histories reach the moments at which a failover could do harm. */
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import { isLeaving, type StoredState } from '../rules/stored-truth.js';

/** Names of all situations. */
export const FAILOVER_SITUATIONS = [
  'failover with a wave in progress',
  'failover while a wave soaks',
  'failover after a handover was ordered and before it began',
  'failover after a handover began and before it was stored',
  'failover while a Pod terminates',
  'failover while nothing else happens',
] as const;

export type FailoverSituation = (typeof FAILOVER_SITUATIONS)[number];

/** `begun`: uids of the successors that hosts have begun. */
export function failoverSituations(
  stored: StoredState,
  begun: ReadonlySet<string>,
  isAlone: boolean,
): FailoverSituation[] {
  const phases = new Set([...stored.rollouts.values()].map(({ status }) => status?.phase));
  const pods = [...stored.pods.values()];
  const isOpen = [...begun].some((uid) => !stored.everStoredPods.has(uid));
  const situations: Record<FailoverSituation, boolean> = {
    'failover with a wave in progress': phases.has('Progressing'),
    'failover while a wave soaks': phases.has('Soaking'),
    'failover after a handover was ordered and before it began': pods.some((pod) => isOrdered(pod, begun)),
    'failover after a handover began and before it was stored': isOpen,
    'failover while a Pod terminates': pods.some(isLeaving),
    'failover while nothing else happens': isAlone,
  };
  return FAILOVER_SITUATIONS.filter((situation) => situations[situation]);
}

function isOrdered(pod: Parameters<typeof handoverOf>[0], begun: ReadonlySet<string>): boolean {
  const uid = handoverOf(pod)?.successor.metadata.uid;
  return uid !== undefined && !begun.has(uid);
}
