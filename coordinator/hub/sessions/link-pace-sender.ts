/** Tells an agent how often to show life, when its Node asks for another pace than it has. */
import { type HeartbeatConfig, heartbeatConfigOf } from '../../../shared/kube/nodes/heartbeat-config.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { LiveSession } from './live-sessions.js';

/** Sends the Node's pace when its agent has another one; an agent that knows none keeps the standard. */
export function sendLinkPace({ session }: Pick<LiveSession, 'session'>, { metadata }: Node): void {
  const pace = heartbeatConfigOf(metadata);
  if (!isSame(pace, session.pace)) session.setPace(pace);
}

function isSame(one: HeartbeatConfig, other: HeartbeatConfig): boolean {
  return (
    one.heartbeatMs === other.heartbeatMs && one.batchMs === other.batchMs && one.compress === other.compress
  );
}
