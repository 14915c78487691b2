/** Summarises a host from its Node and Pods for the API group of the fleet. */

import type { FailingPod, Host, HostState, HostStatus } from '../../../shared/kube/fleet/host-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CLOCK_SKEWED } from '../nodes/clock-skew.js';
import { linkDown } from '../nodes/link-end.js';
import { contactOf } from '../nodes/node-contact.js';
import { CONNECTED } from '../nodes/status-merge.js';
import { podFailureReason, podProgress } from '../reasons/pod-progress.js';

/** Failing Pods that are named, unless they have more causes. */
const MIN_NAMED = 3;
/** Every cause is named up to this number, because the inbox of the console has an item for each. */
const MAX_CAUSES = 20;
const PRESSURES: ReadonlySet<string> = new Set([
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/** Data from other sources than the Node and its Pods. */
interface HostExtras {
  /** End of the agent's newest certificate, RFC 3339. */
  certificateEnds?: string | undefined;
  /** Since when the coordinator waits for the host to reconnect after its own start, in ms since the epoch. */
  awaitingSince?: number | undefined;
}

/** Pods that are being deleted count in the total only. */
export function hostSummary(
  node: Node,
  pods: readonly Pod[],
  { certificateEnds, awaitingSince }: HostExtras = {},
): Host {
  const { name, uid, labels, creationTimestamp } = node.metadata;
  return {
    kind: 'Host',
    apiVersion: `${FLEET_GROUP}/v1`,
    metadata: {
      name,
      ...(uid ? { uid } : {}),
      ...(labels ? { labels } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    status: {
      ...contactStatus(node, awaitingSince),
      ...nodeFacts(node),
      ...podFacts(pods),
      ...(certificateEnds ? { certificateEnds } : {}),
    },
  };
}

type ContactStatus = Pick<HostStatus, 'state' | 'since' | 'message'>;

function contactStatus(node: Node, awaitingSince: number | undefined): ContactStatus {
  const conditions = node.status?.conditions;
  const ready = findCondition(conditions, 'Ready');
  const connected = findCondition(conditions, CONNECTED);
  switch (contactOf(node)) {
    case 'lost':
      return { ...stated('Unknown', ready), ...offline(connected) };
    case 'away':
      return stated('Disconnected', connected);
    case 'here':
      if (awaitingSince !== undefined && connected) return notReconnected(awaitingSince);
      return stated(ready?.status === 'True' ? 'Ready' : 'NotReady', ready);
  }
}

/** The stored state of the link dates from before the coordinator's start. */
function notReconnected(sinceMs: number): ContactStatus {
  return stated('Disconnected', {
    ...linkDown(CONNECTED, 'notReconnected'),
    lastTransitionTime: toTimestamp(sinceMs),
  });
}

/** Shows when and why the link ended, because that is the cause of the unknown state. */
function offline(connected: Condition | undefined): Pick<HostStatus, 'since' | 'message'> {
  if (connected?.status !== 'False') return {};
  const { message, lastTransitionTime: since } = connected;
  return { ...(message ? { message } : {}), ...(since ? { since } : {}) };
}

function stated(state: HostState, condition: Condition | undefined): ContactStatus {
  const since = condition?.lastTransitionTime;
  const message = state === 'Ready' ? undefined : condition?.message;
  return { state, ...(since ? { since } : {}), ...(message ? { message } : {}) };
}

function nodeFacts({
  spec,
  status,
}: Node): Pick<HostStatus, 'pressures' | 'unschedulable' | 'taints' | 'agentVersion' | 'clockSkew'> {
  const clock = findCondition(status?.conditions, CLOCK_SKEWED);
  return {
    pressures: (status?.conditions ?? [])
      .filter((condition) => PRESSURES.has(condition.type) && condition.status === 'True')
      .map(({ type }) => type),
    unschedulable: spec?.unschedulable === true,
    taints: spec?.taints?.length ?? 0,
    agentVersion: status?.nodeInfo?.kubeletVersion ?? '',
    ...(clock?.status === 'True' ? { clockSkew: clock.message ?? clock.type } : {}),
  };
}

function podFacts(pods: readonly Pod[]): Pick<HostStatus, 'pods' | 'failing'> {
  let ready = 0;
  const failing: FailingPod[] = [];
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp) continue;
    const { code, because } = podProgress(pod);
    if (code === 'Running') ready += 1;
    if (code === 'Failing' || code === 'BackOff') failing.push(failingPod(pod, because));
  }
  return {
    pods: { total: pods.length, ready, failing: failing.length },
    failing: namedPods(failing),
  };
}

/** Returns one Pod of each cause, and then others. */
function namedPods(failing: readonly FailingPod[]): FailingPod[] {
  if (failing.length <= MIN_NAMED) return [...failing];
  const first = new Map<string, FailingPod>();
  for (const pod of failing) {
    const cause = `${pod.namespace} ${pod.owner ?? pod.name} ${pod.reason}`;
    if (!first.has(cause)) first.set(cause, pod);
  }
  const causes = new Set(first.values());
  const others = failing.filter((pod) => !causes.has(pod));
  const count = Math.min(MAX_CAUSES, Math.max(MIN_NAMED, causes.size));
  return [...causes, ...others].slice(0, count);
}

function failingPod(pod: Pod, message: string): FailingPod {
  const { namespace = '', name, ownerReferences } = pod.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller);
  const since = findCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime;
  return {
    ...{ namespace, name, message, reason: podFailureReason(pod) ?? 'Failed' },
    ...(owner ? { owner: `${owner.kind}/${owner.name}` } : {}),
    ...(since ? { since } : {}),
  };
}
