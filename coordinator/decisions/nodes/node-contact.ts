/** Whether a node's agent is heard, as its conditions have it. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { CONNECTED } from './status-merge.js';

/** `away`: the link to its agent is down; `lost`: for so long that nobody knows the node's state. */
export type NodeContact = 'here' | 'away' | 'lost';

/** Since when nobody knows the node's state, ms since the epoch by `timeOf`; undefined while somebody does. */
export function lostSince({ status }: Pick<Node, 'status'>, timeOf = Date.parse): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'Unknown' || !ready.lastTransitionTime) return undefined;
  return timeOf(ready.lastTransitionTime);
}

/** Since when the link to its agent is down, ms since the epoch by `timeOf`; undefined while it is up. */
export function disconnectedSince({ status }: Pick<Node, 'status'>, timeOf = Date.parse): number | undefined {
  const connected = findCondition(status?.conditions, CONNECTED);
  if (connected?.status !== 'False' || !connected.lastTransitionTime) return undefined;
  return timeOf(connected.lastTransitionTime);
}

/** By the conditions Ready and Connected; a node without them is here. */
export function contactOf({ status }: Pick<Node, 'status'>): NodeContact {
  if (findCondition(status?.conditions, 'Ready')?.status === 'Unknown') return 'lost';
  return findCondition(status?.conditions, CONNECTED)?.status === 'False' ? 'away' : 'here';
}
