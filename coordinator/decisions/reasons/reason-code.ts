/** Decides the one reason why a DaemonSet does or does not run on a node. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { HANDOVER_CONDITION } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { podPriority } from '../../../shared/kube/pods/priority-class.js';
import {
  type RolloutReasonCode,
  UPDATE_BLOCK_CODES,
  type UpdateBlockCode,
} from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import { type CurrentRevision, comparePods, type DaemonPod, toDaemonPod } from '../daemonsets/daemon-node.js';
import { isRollingUpdate } from '../daemonsets/update-strategy.js';
import { contactOf, disconnectedSince, lostSince } from '../nodes/node-contact.js';
import { type Placement, type PlacementRule, placementOf, whenOnline } from '../placement/placement.js';
import { isEndingByPreemption } from '../placement/preemption.js';
import { type FailureCause, podProgress } from './pod-progress.js';

/**
 * All codes, in the order of a fleet's list. They are part of the API: never rename one. `reason-sentence.ts` and
 * `hold-messages.ts` say what each means.
 */
export const REASON_CODES = [
  'Running',
  'Creating',
  'FailedCreate',
  'Starting',
  'NotReady',
  'Failing',
  'BackOff',
  'Unschedulable',
  'Preempting',
  'Preempted',
  'Terminating',
  'Updating',
  ...UPDATE_BLOCK_CODES,
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

export type ReasonCode = (typeof REASON_CODES)[number];

/** `because`: a clause about the Pod if one is named, else about the node or the DaemonSet. */
export interface Reason {
  code: ReasonCode;
  /** Name of the Pod that the code is about. */
  pod?: string;
  because: string;
  /** With the code `Failing`. */
  cause?: FailureCause;
}

/** The status of a rollout by waves for one node. */
export interface NodeRolloutStatus {
  code: RolloutReasonCode;
  /** Name of the node's wave. */
  wave: string;
  /** The message of the rollout's phase. */
  message: string;
  /** With the code `Failed`: why the node failed, if that is stored. */
  failure?: string;
}

/** `node`: undefined if there is no such object. */
export interface ReasonInput {
  daemonSet: DaemonSet;
  node: Node | undefined;
  /** Pods of the DaemonSet that target the node. */
  pods: readonly Pod[];
  current: CurrentRevision;
  /** Absent if no policy governs the DaemonSet. */
  rollout?: NodeRolloutStatus | undefined;
  /** The Pod of higher priority that has taken the room of the DaemonSet's unbound Pod on this node (`preemptorOf`). */
  preemptor?: Pod | undefined;
  /** Set if the API refused the last create of a Pod of the current revision, on any node. */
  refusal?: CreateRefusal | undefined;
  /** Why the node's Pod cannot be rendered: a value is missing or unusable, or objects contradict each other. */
  refusedValues?: string | undefined;
}

/** Refused creates of a DaemonSet's Pods since the last accepted one. Times are ms since the epoch. */
export interface CreateRefusal {
  /** The API's message for the last refusal. */
  message: string;
  count: number;
  firstAt: number;
  lastAt: number;
}

/** The code for each placement rule. */
export const PLACEMENT_REASON_CODES: Readonly<Record<PlacementRule, ReasonCode>> = {
  NodeName: 'NodeNameMismatch',
  NodeSelector: 'NodeSelectorMismatch',
  NodeAffinity: 'NodeAffinityMismatch',
  Taints: 'UntoleratedTaint',
};

interface Held {
  pod: Pod;
  view: DaemonPod;
}

/** Checks in this order: the DaemonSet's deletion, a missing node, placement, connectivity, the Pod. */
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
  // The code NodeOffline explains more than the taints of an offline node.
  const placement = placementOf(offline ? whenOnline(node) : node, daemonSet.spec.template.spec);
  if (!placement.shouldRun) return objectionReason(placement, first, input);
  if (offline) return offlineReason(node, first, input);
  if (!first) return dueReason(input);
  return podReason(input, first);
}

/** Returns the Pod to explain: live before terminating, in an update old before new, then in the controller's order. */
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

function objectionReason(
  { shouldContinueRunning, rule, reason }: Extract<Placement, { shouldRun: false }>,
  first: Held | undefined,
  { rollout, refusedValues }: ReasonInput,
): Reason {
  const isLive = first !== undefined && !first.view.terminating;
  const stays = shouldContinueRunning && isLive;
  const hold = rollout && holdText(rollout);
  if (!stays && isLive && rollout && hold !== undefined && isHold(rollout.code)) {
    return { code: rollout.code, ...nameOf(first), because: `${reason}, and ${hold}` };
  }
  return {
    code: stays ? 'KeptDespiteTaint' : PLACEMENT_REASON_CODES[rule],
    ...nameOf(first),
    because: stays ? `${reason}${keptText(first, refusedValues)}` : reason,
  };
}

/** Returns why the node keeps an outdated Pod: without the missing value, an operator would look only at the node. */
function keptText(held: Held | undefined, refusedValues: string | undefined): string {
  if (refusedValues === undefined || !held || held.view.updated || held.view.terminating) return '';
  return `, and its next Pod cannot be made: ${refusedValues}`;
}

/** For a node that should have a Pod, but has none. */
function dueReason({ rollout, refusal, refusedValues }: ReasonInput): Reason {
  const hold = rollout && holdText(rollout);
  if (rollout && hold !== undefined && isHold(rollout.code)) return { code: rollout.code, because: hold };
  if (refusedValues !== undefined) return { code: 'FailedCreate', because: refusedValues };
  if (refusal) return { code: 'FailedCreate', because: refusalText(refusal) };
  return { code: 'Creating', because: 'the node is eligible and its Pod is due' };
}

function offlineReason(node: Node, first: Held | undefined, { rollout, refusedValues }: ReasonInput): Reason {
  const since = disconnectedSince(node) ?? lostSince(node);
  const last = since === undefined ? '' : ` since ${toTimestamp(since)}`;
  const code = rollout?.code === 'DeferredOffline' ? rollout.code : 'NodeOffline';
  return {
    code,
    ...nameOf(first),
    because: `its agent is not connected${last}${keptText(first, refusedValues)}`,
  };
}

export function refusalText({ message, count, firstAt, lastAt }: CreateRefusal): string {
  const last = toTimestamp(lastAt);
  const times =
    count === 1
      ? `refused at ${last}`
      : `refused ${count} times since ${toTimestamp(firstAt)}, last at ${last}`;
  return `${message} (${times})`;
}

function podReason(input: ReasonInput, { pod, view }: Held): Reason {
  const { daemonSet, rollout, refusal, refusedValues } = input;
  const { spec } = daemonSet;
  const rolling = isRollingUpdate(spec.updateStrategy);
  const about = { pod: view.name };
  if (isEndingByPreemption(pod)) {
    const ends = `it should have stopped by ${pod.metadata.deletionTimestamp}`;
    return { code: 'Preempted', ...about, because: `a Pod of higher priority needs its room, and ${ends}` };
  }
  if (view.terminating) {
    const code = rolling && !view.updated ? 'Updating' : 'Terminating';
    return { code, ...about, because: `it should have stopped by ${pod.metadata.deletionTimestamp}` };
  }
  const { code, because, cause } = progressOf(pod, input.preemptor);
  const failed = cause && { cause };
  // Its values or overrides cannot be rendered now: it runs on, and a lost Pod is not replaced.
  if (refusedValues !== undefined && code === 'Running' && view.hash === input.current.hash) {
    const because = `it keeps running as it was made, and its next Pod cannot be made: ${refusedValues}`;
    return { code: 'FailedCreate', ...about, because };
  }
  if (view.updated) {
    const yet = view.confirming ? ', and its host has not confirmed it yet' : '';
    return { code, ...about, because: `${because}${yet}`, ...failed };
  }
  const older = view.hash === input.current.hash ? 'older host values or overrides' : 'an older template';
  const held = rollout && holdOf(rollout);
  if (rolling && refusedValues !== undefined) {
    const because = `it is of an older template, and the next Pod cannot be made: ${refusedValues}`;
    return { code: 'FailedCreate', ...about, because };
  }
  if (rolling && rollout && isHold(held)) {
    return { code: held, ...about, because: `${HOLDS[held](rollout)}${hostsOwnWord(pod, held)}` };
  }
  if (rolling && refusal) {
    const next = `it is of ${older}, and the next Pod is refused: ${refusalText(refusal)}`;
    return { code: 'FailedCreate', ...about, because: next };
  }
  const isLeft = !rolling && code === 'Running';
  return {
    code: rolling ? 'Updating' : isLeft ? 'UpdateOnDelete' : code,
    ...about,
    because: `it is of ${older}, and ${because}`,
    ...(!rolling && failed),
  };
}

function progressOf(pod: Pod, preemptor: Pod | undefined): Pick<Reason, 'code' | 'because' | 'cause'> {
  const progress = podProgress(pod);
  if (progress.code !== 'Unschedulable' || !preemptor) return progress;
  const { namespace, name } = preemptor.metadata;
  const taken = `Pod ${namespace}/${name} of priority ${podPriority(preemptor)} has taken the room`;
  return { code: 'Preempted', because: `${taken}: ${progress.because}` };
}

/** Codes for which the host reports its own message. */
const HAS_ITS_OWN_WORD: ReadonlySet<UpdateBlockCode> = new Set(['UpdateLocked', 'ImageNotPulled']);

/** Returns the host's message for why its handover has not started: of its update lock or its engine. */
function hostsOwnWord({ status }: Pod, held: UpdateBlockCode): string {
  if (!HAS_ITS_OWN_WORD.has(held)) return '';
  const { reason, message } = findCondition(status?.conditions, HANDOVER_CONDITION) ?? {};
  return reason === held && message ? `: ${message}` : '';
}

/** Why a node keeps its old Pod, by code. */
const HOLDS: Readonly<Record<UpdateBlockCode, (stance: NodeRolloutStatus) => string>> = {
  Budget: ({ wave }) => `its wave ${wave} is open, and its budget is used up: other hosts are updated first`,
  WaitingForWave: ({ wave, message }) => `its wave ${wave} is not open yet: ${message}`,
  WaitingForApproval: ({ wave }) => `its wave ${wave} waits for approval`,
  OutsideWindow: ({ message }) => `no Pod is replaced there now: ${message}`,
  AwaitingResync: () => 'the host has not reported since the coordinator started',
  UpdateLocked: () => 'the host has an update lock',
  ImageNotPulled: () => 'the host has not pulled the next image yet',
  NoTrustedTime: () => 'the host has received no trusted time since it booted',
  InsufficientResources: () => 'the node lacks free resources for the requests of the new Pod',
  RolloutPaused: ({ message }) => message,
  Frozen: ({ message }) => message,
  RolloutFailed: ({ message }) => `the newest template is barred: ${message}`,
  Reverted: ({ code, failure, message }) => {
    const first = code === 'Failed' ? `failed${failure ? ` (${failure})` : ''} and ` : '';
    return `it ${first}was rolled back to its earlier revision: ${message}`;
  },
  Skipped: () => 'an operator skipped it in this rollout',
  DeferredOffline: () => 'it was offline when its wave was updated; it is updated when it returns',
};

/** A failed node with its old Pod has been reverted, like nodes that were well. */
function holdOf({ code }: NodeRolloutStatus): RolloutReasonCode {
  return code === 'Failed' ? 'Reverted' : code;
}

/** Returns why the rollout keeps a node's old Pod, or undefined if it does not. */
export function holdText(stance: NodeRolloutStatus): string | undefined {
  return isHold(stance.code) ? HOLDS[stance.code](stance) : undefined;
}

function isHold(code: RolloutReasonCode | undefined): code is UpdateBlockCode {
  return (UPDATE_BLOCK_CODES as readonly (RolloutReasonCode | undefined)[]).includes(code);
}
