/** Sends a changed link pace from the Node's annotations to its agent. */
import { type HeartbeatConfig, heartbeatConfigOf } from '../../../shared/kube/nodes/heartbeat-config.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { LiveSession } from './live-sessions.js';

/** Sends the Node's link pace if the agent uses another one. An agent without this feature keeps the standard pace. */
export function sendLinkPace({ session }: Pick<LiveSession, 'session'>, { metadata }: Node): void {
  const pace = heartbeatConfigOf(metadata);
  if (!isSame(pace, session.pace)) session.setPace(pace);
}

function isSame(one: HeartbeatConfig, other: HeartbeatConfig): boolean {
  return (
    one.heartbeatMs === other.heartbeatMs && one.batchMs === other.batchMs && one.compress === other.compress
  );
}
