/** Events that a kubelet records about its node (`pkg/kubelet/nodestatus/setters.go`, `kubelet_node_status.go`). */

import type { NodeSpec, NodeSystemInfo } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';

/** Event reasons of the pressure conditions, for True and False. */
const PRESSURES: readonly (readonly [type: string, there: string, gone: string])[] = [
  ['MemoryPressure', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'NodeHasInsufficientPID', 'NodeHasSufficientPID'],
];

/** Returns upstream's message of the Event `Rebooted` (Warning) if the host has booted since its last report. */
export function rebootMessage(
  name: string,
  before: NodeSystemInfo | undefined,
  after: NodeSystemInfo | undefined,
): string | undefined {
  const hasBooted = before?.bootID && after?.bootID && before.bootID !== after.bootID;
  return hasBooted ? `Node ${name} has been rebooted, boot id: ${after.bootID}` : undefined;
}

/**
 * Returns the reason of the Event (Normal, `Node NAME status is now: REASON`) when the node was cordoned or uncordoned.
 */
export function schedulableEvent(
  before: Pick<NodeSpec, 'unschedulable'> | undefined,
  after: Pick<NodeSpec, 'unschedulable'> | undefined,
): string | undefined {
  const isCordoned = after?.unschedulable ?? false;
  if (isCordoned === (before?.unschedulable ?? false)) return undefined;
  return isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
}

/** Returns the reasons of the Events (Normal, `Node NAME status is now: REASON`) for a status change. */
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
