/** What a fleet's map says of one host, of its Node and the Pods on it. */

import type { FailingPod, Host, HostState, HostStatus } from '../../../shared/kube/fleet/host-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CLOCK_SKEWED } from '../nodes/clock-skew.js';
import { linkDown } from '../nodes/link-end.js';
import { contactOf } from '../nodes/node-contact.js';
import { CONNECTED } from '../nodes/status-merge.js';
import { podProgress } from '../reasons/pod-progress.js';

const MOST_FAILING = 3;
const PRESSURES: ReadonlySet<string> = new Set([
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/** What a host's Node and Pods do not say. */
interface HostExtras {
  /** Of the newest certificate of its agent, RFC 3339. */
  certificateEnds?: string | undefined;
  /** Since when the coordinator waits to hear it for the first time since its own start, ms since the epoch. */
  awaitingSince?: number | undefined;
}

/** Pods that are being deleted are counted and judge nothing. */
export function hostSummary(
  node: Node,
  pods: readonly Pod[],
  { certificateEnds, awaitingSince: unheardSince }: HostExtras = {},
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
      ...contactStatus(node, unheardSince),
      ...nodeFacts(node),
      ...podFacts(pods),
      ...(certificateEnds ? { certificateEnds } : {}),
    },
  };
}

type ContactStatus = Pick<HostStatus, 'state' | 'since' | 'message'>;

function contactStatus(node: Node, unheardSince: number | undefined): ContactStatus {
  const conditions = node.status?.conditions;
  const ready = findCondition(conditions, 'Ready');
  const connected = findCondition(conditions, CONNECTED);
  switch (contactOf(node)) {
    case 'lost':
      return { ...stated('Unknown', ready), ...offline(connected) };
    case 'away':
      return stated('Disconnected', connected);
    case 'here':
      if (unheardSince !== undefined && connected) return unheard(unheardSince);
      return stated(ready?.status === 'True' ? 'Ready' : 'NotReady', ready);
  }
}

/** What is stored of its link is as old as the last end of a coordinator. */
function unheard(sinceMs: number): ContactStatus {
  return stated('Disconnected', {
    ...linkDown(CONNECTED, 'unheard'),
    lastTransitionTime: toTimestamp(sinceMs),
  });
}

/** Nobody knows its state since the grace period's end; it has been silent since the link was lost, and that says why. */
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
    const { namespace = '', name } = pod.metadata;
    if (code === 'Failing' || code === 'BackOff') failing.push({ namespace, name, message: because });
  }
  return {
    pods: { total: pods.length, ready, failing: failing.length },
    failing: failing.slice(0, MOST_FAILING),
  };
}
