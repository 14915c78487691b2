/** The one reason why a DaemonSet does or does not run on a node. */
import { findCondition } from '../../shared/kube/conditions.js';
import type { Node } from '../../shared/kube/node.js';
import { isPodTerminal, type Pod } from '../../shared/kube/pod.js';
import type { RolloutPhase } from '../../shared/kube/rollout.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { contactOf } from './contact.js';
import { type CurrentRevision, comparePods, type DaemonPod, toDaemonPod } from './daemon-node.js';
import { type Placement, type PlacementRule, placementOf } from './placement.js';
import { podProgress } from './pod-progress.js';
import { isRollingUpdate } from './update-strategy.js';

/**
 * Every code, in the order in which a fleet's are listed. They are part of the API: one may be added, none renamed.
 * What each means is said where it is worded, in `reason-sentence.ts`.
 */
export const REASON_CODES = [
  'Running',
  'Creating',
  'Starting',
  'NotReady',
  'Failing',
  'BackOff',
  'Unschedulable',
  'Terminating',
  'Updating',
  'WaitingForWave',
  'RolloutPaused',
  'RolloutFailed',
  'UpdateOnDelete',
  'NodeOffline',
  'KeptDespiteTaint',
  'UntoleratedTaint',
  'NodeNameMismatch',
  'NodeSelectorMismatch',
  'NodeAffinityMismatch',
  'NodeNotFound',
  'DaemonSetDeleting',
] as const;

/** One of `REASON_CODES`. */
export type ReasonCode = (typeof REASON_CODES)[number];

/** `because`: a clause about the Pod, if one is named, else about the node or the DaemonSet. */
export interface Reason {
  code: ReasonCode;
  /** Name of the Pod that the code is about. */
  pod?: string;
  because: string;
}

/** How a rollout by waves stands for one node. */
export interface RolloutStance {
  phase: RolloutPhase;
  message: string;
  /** Name of the node's wave, and whether it is open. */
  wave: string;
  isOpen: boolean;
}

/** One DaemonSet and one node. `node` is undefined when there is no such object (any more). */
export interface ReasonInput {
  daemonSet: DaemonSet;
  node: Node | undefined;
  /** Those that the DaemonSet owns and whose target is the node. */
  pods: readonly Pod[];
  current: CurrentRevision;
  /** Absent where no policy governs the DaemonSet. */
  rollout?: RolloutStance | undefined;
}

const OBJECTIONS: Readonly<Record<PlacementRule, ReasonCode>> = {
  NodeName: 'NodeNameMismatch',
  NodeSelector: 'NodeSelectorMismatch',
  NodeAffinity: 'NodeAffinityMismatch',
  Taints: 'UntoleratedTaint',
};

/** Set on a node that is not heard, and gone when it is: they follow from what NodeOffline says better. */
const OFFLINE_TAINTS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
]);

/** A Pod and what the controller sees of it. */
interface Held {
  pod: Pod;
  view: DaemonPod;
}

/** What decides, in this order: the DaemonSet going, the node missing, placement, the link, the Pod. */
export function reasonFor(input: ReasonInput): Reason {
  const { daemonSet, node } = input;
  const { deletionTimestamp, finalizers = [] } = daemonSet.metadata;
  if (deletionTimestamp) {
    const waits = finalizers.length > 0 ? ` and waits for ${finalizers.join(', ')}` : '';
    return { code: 'DaemonSetDeleting', because: `it was deleted at ${deletionTimestamp}${waits}` };
  }
  const first = firstPod(input);
  if (!node) return { code: 'NodeNotFound', ...nameOf(first), because: 'there is no such Node' };
  const offline = contactOf(node) !== 'here';
  const placement = placementOf(offline ? withoutOfflineTaints(node) : node, daemonSet.spec.template.spec);
  if (!placement.shouldRun) return objectionReason(placement, first);
  if (offline) return offlineReason(node, first);
  if (!first) return { code: 'Creating', because: 'the node is eligible and its Pod is due' };
  return podReason(daemonSet, first, input.rollout);
}

/** The Pod that speaks for the node: a live one before one that goes, in an update the old, then as the controller keeps them. */
function firstPod({ daemonSet, pods, current }: ReasonInput): Held | undefined {
  const rolling = isRollingUpdate(daemonSet.spec.updateStrategy);
  const rank = ({ terminating, updated }: DaemonPod) => (terminating ? 2 : rolling && !updated ? 0 : 1);
  const [first] = pods
    .filter((pod) => !(pod.metadata.deletionTimestamp && isPodTerminal(pod)))
    .map((pod) => ({ pod, view: toDaemonPod(pod, current) }))
    .sort((a, b) => rank(a.view) - rank(b.view) || comparePods(a.view, b.view));
  return first;
}

function nameOf(held: Held | undefined): { pod?: string } {
  return held ? { pod: held.view.name } : {};
}

function withoutOfflineTaints(node: Node): Node {
  const taints = (node.spec?.taints ?? []).filter(({ key }) => !OFFLINE_TAINTS.has(key));
  return { ...node, spec: { ...node.spec, taints } };
}

function objectionReason(
  { shouldContinueRunning, rule, reason }: Extract<Placement, { shouldRun: false }>,
  first: Held | undefined,
): Reason {
  const stays = shouldContinueRunning && first !== undefined && !first.view.terminating;
  return { code: stays ? 'KeptDespiteTaint' : OBJECTIONS[rule], ...nameOf(first), because: reason };
}

function offlineReason(node: Node, first: Held | undefined): Reason {
  const heardAt = findCondition(node.status?.conditions, 'Ready')?.lastHeartbeatTime;
  const last = heardAt ? ` (last report: ${heardAt})` : '';
  return { code: 'NodeOffline', ...nameOf(first), because: `its agent is not connected${last}` };
}

function podReason({ spec }: DaemonSet, { pod, view }: Held, rollout: RolloutStance | undefined): Reason {
  const rolling = isRollingUpdate(spec.updateStrategy);
  const about = { pod: view.name };
  if (view.terminating) {
    const code = rolling && !view.updated ? 'Updating' : 'Terminating';
    return { code, ...about, because: `it is to have stopped by ${pod.metadata.deletionTimestamp}` };
  }
  const { code, because } = podProgress(pod);
  if (view.updated) return { code, ...about, because };
  const hold = rolling && rollout ? holdOf(rollout) : undefined;
  if (hold) return { ...hold, ...about };
  const isLeft = !rolling && code === 'Running';
  return {
    code: rolling ? 'Updating' : isLeft ? 'UpdateOnDelete' : code,
    ...about,
    because: `it is of an older template, and ${because}`,
  };
}

/** What keeps a node's old Pod there, if not the budget alone. */
function holdOf({
  phase,
  message,
  wave,
  isOpen,
}: RolloutStance): Pick<Reason, 'code' | 'because'> | undefined {
  switch (phase) {
    case 'Failed':
    case 'RolledBack':
      return { code: 'RolloutFailed', because: `the newest template is barred: ${message}` };
    case 'Paused':
      return { code: 'RolloutPaused', because: message };
    default:
      return isOpen
        ? undefined
        : { code: 'WaitingForWave', because: `its wave ${wave} is not open yet: ${message}` };
  }
}
