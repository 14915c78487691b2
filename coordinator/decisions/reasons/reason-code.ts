/** The one reason why a DaemonSet does or does not run on a node. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { HANDOVER_CONDITION } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  type RolloutReasonCode,
  UPDATE_BLOCK_CODES,
  type UpdateBlockCode,
} from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import { type CurrentRevision, comparePods, type DaemonPod, toDaemonPod } from '../daemonsets/daemon-node.js';
import { isRollingUpdate } from '../daemonsets/update-strategy.js';
import { contactOf, disconnectedSince, lostSince } from '../nodes/node-contact.js';
import { type Placement, type PlacementRule, placementOf } from '../placement/placement.js';
import { podProgress } from './pod-progress.js';

/**
 * Every code, in the order in which a fleet's are listed. They are part of the API: one may be added, none renamed.
 * What each means is said where it is worded, in `reason-sentence.ts`.
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
export interface NodeRolloutStatus {
  code: RolloutReasonCode;
  /** Name of the node's wave. */
  wave: string;
  /** The rollout's phase in words. */
  message: string;
  /** Why the node failed, with the code `Failed` and as far as it is stored. */
  failure?: string;
}

/** One DaemonSet and one node. `node` is undefined when there is no such object (any more). */
export interface ReasonInput {
  daemonSet: DaemonSet;
  node: Node | undefined;
  /** Those that the DaemonSet owns and whose target is the node. */
  pods: readonly Pod[];
  current: CurrentRevision;
  /** Absent where no policy governs the DaemonSet. */
  rollout?: NodeRolloutStatus | undefined;
  /** The API refused the last Pod of the current revision that was to be created, on whatever node. */
  refusal?: CreateRefusal | undefined;
}

/** Creates of one DaemonSet's Pods that the API refused, since the last one that it accepted. Times in ms since the epoch. */
export interface CreateRefusal {
  /** Of the last one, in the API's words. */
  message: string;
  count: number;
  firstAt: number;
  lastAt: number;
}

/** The code of each placement rule that objects. */
export const PLACEMENT_REASON_CODES: Readonly<Record<PlacementRule, ReasonCode>> = {
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
  if (!placement.shouldRun) return objectionReason(placement, first, input.rollout);
  if (offline) return offlineReason(node, first, input.rollout);
  if (!first) return dueReason(input);
  return podReason(input, first);
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
  rollout: NodeRolloutStatus | undefined,
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
    because: reason,
  };
}

/** Without a Pod where one should be. */
function dueReason({ rollout, refusal }: ReasonInput): Reason {
  const hold = rollout && holdText(rollout);
  if (rollout && hold !== undefined && isHold(rollout.code)) return { code: rollout.code, because: hold };
  if (refusal) return { code: 'FailedCreate', because: refusalText(refusal) };
  return { code: 'Creating', because: 'the node is eligible and its Pod is due' };
}

function offlineReason(node: Node, first: Held | undefined, rollout: NodeRolloutStatus | undefined): Reason {
  const since = disconnectedSince(node) ?? lostSince(node);
  const last = since === undefined ? '' : ` since ${toTimestamp(since)}`;
  const code = rollout?.code === 'DeferredOffline' ? rollout.code : 'NodeOffline';
  return { code, ...nameOf(first), because: `its agent is not connected${last}` };
}

/** `pods "web-" is forbidden: … (refused 4 times since 2026-03-01T02:00:00Z, last at 2026-03-01T02:01:15Z)`. */
export function refusalText({ message, count, firstAt, lastAt }: CreateRefusal): string {
  const last = toTimestamp(lastAt);
  const times =
    count === 1
      ? `refused at ${last}`
      : `refused ${count} times since ${toTimestamp(firstAt)}, last at ${last}`;
  return `${message} (${times})`;
}

function podReason({ daemonSet: { spec }, rollout, refusal }: ReasonInput, { pod, view }: Held): Reason {
  const rolling = isRollingUpdate(spec.updateStrategy);
  const about = { pod: view.name };
  if (view.terminating) {
    const code = rolling && !view.updated ? 'Updating' : 'Terminating';
    return { code, ...about, because: `it is to have stopped by ${pod.metadata.deletionTimestamp}` };
  }
  const { code, because } = podProgress(pod);
  if (view.updated) {
    const yet = view.confirming ? ', and its host has yet to confirm it' : '';
    return { code, ...about, because: `${because}${yet}` };
  }
  const held = rollout && holdOf(rollout);
  if (rolling && rollout && isHold(held)) {
    return { code: held, ...about, because: `${HOLDS[held](rollout)}${hostsOwnWord(pod, held)}` };
  }
  if (rolling && refusal) {
    const next = `it is of an older template, and the next Pod is refused: ${refusalText(refusal)}`;
    return { code: 'FailedCreate', ...about, because: next };
  }
  const isLeft = !rolling && code === 'Running';
  return {
    code: rolling ? 'Updating' : isLeft ? 'UpdateOnDelete' : code,
    ...about,
    because: `it is of an older template, and ${because}`,
  };
}

/** Where what the host says of its turn is more than the code. */
const HAS_ITS_OWN_WORD: ReadonlySet<UpdateBlockCode> = new Set(['UpdateLocked', 'ImageNotPulled']);

/** Why the host has not begun its turn: the reason of its 'not now', or of its engine. */
function hostsOwnWord({ status }: Pod, held: UpdateBlockCode): string {
  if (!HAS_ITS_OWN_WORD.has(held)) return '';
  const { reason, message } = findCondition(status?.conditions, HANDOVER_CONDITION) ?? {};
  return reason === held && message ? `: ${message}` : '';
}

/** What keeps a node's old Pod there, by code. */
const HOLDS: Readonly<Record<UpdateBlockCode, (stance: NodeRolloutStatus) => string>> = {
  Budget: ({ wave }) =>
    `its wave ${wave} is open, and as many hosts as may be without their Pod at once go first`,
  WaitingForWave: ({ wave, message }) => `its wave ${wave} is not open yet: ${message}`,
  WaitingForApproval: ({ wave }) => `its wave ${wave} opens when somebody approves it`,
  OutsideWindow: ({ message }) => `no Pod is replaced there now: ${message}`,
  AwaitingResync: () => "the host has not been heard since the coordinator's start",
  UpdateLocked: () => "the host says 'not now'",
  ImageNotPulled: () => 'the host has not fetched the next image yet',
  NoTrustedTime: () => 'the host has heard no time since it booted',
  InsufficientResources: () =>
    'the node has no room for what the next Pod requests, in the place of this one',
  RolloutPaused: ({ message }) => message,
  Frozen: ({ message }) => message,
  RolloutFailed: ({ message }) => `the newest template is barred: ${message}`,
  Reverted: ({ code, failure, message }) => {
    const first = code === 'Failed' ? `failed${failure ? ` (${failure})` : ''} and ` : '';
    return `it ${first}was given back its earlier revision: ${message}`;
  },
  Skipped: () => 'somebody took it out of this rollout',
  DeferredOffline: () => 'it was out of contact at its turn, and follows',
};

/** A node that failed and has its old Pod again went back like those that were well. */
function holdOf({ code }: NodeRolloutStatus): RolloutReasonCode {
  return code === 'Failed' ? 'Reverted' : code;
}

/** Why the rollout keeps a node's old Pod there, in words; undefined where it does not. */
export function holdText(stance: NodeRolloutStatus): string | undefined {
  return isHold(stance.code) ? HOLDS[stance.code](stance) : undefined;
}

function isHold(code: RolloutReasonCode | undefined): code is UpdateBlockCode {
  return (UPDATE_BLOCK_CODES as readonly (RolloutReasonCode | undefined)[]).includes(code);
}
