/** Derives the connection state of a node from its conditions. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { CONNECTED } from './status-merge.js';

/** `away`: the link to the agent is down. `lost`: for longer than the grace period, so the state is unknown. */
export type NodeContact = 'here' | 'away' | 'lost';

/** Returns since when the node's state is unknown, in ms since the epoch by `timeOf`; undefined if it is known. */
export function lostSince({ status }: Pick<Node, 'status'>, timeOf = Date.parse): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'Unknown' || !ready.lastTransitionTime) return undefined;
  return timeOf(ready.lastTransitionTime);
}

/** Returns since when the link to the agent is down, in ms since the epoch by `timeOf`; undefined while it is up. */
export function disconnectedSince({ status }: Pick<Node, 'status'>, timeOf = Date.parse): number | undefined {
  const connected = findCondition(status?.conditions, CONNECTED);
  if (connected?.status !== 'False' || !connected.lastTransitionTime) return undefined;
  return timeOf(connected.lastTransitionTime);
}

/** Reads the conditions Ready and Connected. A node without them is `here`. */
export function contactOf({ status }: Pick<Node, 'status'>): NodeContact {
  if (findCondition(status?.conditions, 'Ready')?.status === 'Unknown') return 'lost';
  return findCondition(status?.conditions, CONNECTED)?.status === 'False' ? 'away' : 'here';
}
