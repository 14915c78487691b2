/** What a kubelet tells of its node when that changes (`pkg/kubelet/nodestatus/setters.go`, `kubelet_node_status.go`). */

import type { NodeSpec, NodeSystemInfo } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';

/** Reasons of the Events on a condition that is a pressure: when it comes, and when it is known not to be there. */
const PRESSURES: readonly (readonly [type: string, there: string, gone: string])[] = [
  ['MemoryPressure', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'NodeHasInsufficientPID', 'NodeHasSufficientPID'],
];

/** The message of the Event `Rebooted` (Warning) when the host has booted since it was last heard; upstream's words. */
export function rebootMessage(
  name: string,
  before: NodeSystemInfo | undefined,
  after: NodeSystemInfo | undefined,
): string | undefined {
  const hasBooted = before?.bootID && after?.bootID && before.bootID !== after.bootID;
  return hasBooted ? `Node ${name} has been rebooted, boot id: ${after.bootID}` : undefined;
}

/** The reason of the Event (Normal, `Node NAME status is now: REASON`) when the node was cordoned, or may be used again. */
export function schedulableEvent(
  before: Pick<NodeSpec, 'unschedulable'> | undefined,
  after: Pick<NodeSpec, 'unschedulable'> | undefined,
): string | undefined {
  const isCordoned = after?.unschedulable ?? false;
  if (isCordoned === (before?.unschedulable ?? false)) return undefined;
  return isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
}

/** The reasons of the Events (Normal, `Node NAME status is now: REASON`) that lead from one status to the next. */
export function nodeStatusEvents(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): string[] {
  const changed = (type: string) => {
    const next = findCondition(after, type)?.status;
    return next === findCondition(before, type)?.status ? undefined : next;
  };
  const pressures = PRESSURES.flatMap(([type, there, gone]) => {
    const next = changed(type);
    if (next === 'True') return [there];
    return next === 'False' ? [gone] : [];
  });
  const ready = changed('Ready');
  if (ready === 'True') return [...pressures, 'NodeReady'];
  const wasReported = findCondition(before, 'Ready') !== undefined;
  return ready === 'False' && wasReported ? [...pressures, 'NodeNotReady'] : pressures;
}
