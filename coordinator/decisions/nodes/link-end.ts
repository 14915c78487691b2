/** The cause of a closed link, as far as the coordinator can detect. It is displayed for disconnected hosts. */
import type { Condition } from '../../../shared/kube/objects/conditions.js';

/**
 * `silent`: nothing arrived for too long. `broken`: the connection ended without a goodbye, for example after a crash
 * or a network failure. `stopped`: the agent announced its stop. `notReconnected`: the coordinator restarted and the agent has
 * not reconnected. `unknown`: unknown, or closed by the coordinator.
 */
export type LinkEnd = 'silent' | 'broken' | 'stopped' | 'notReconnected' | 'unknown';

/** WebSocket close codes (RFC 6455, 7.4.1). */
const GOING_AWAY = 1001;
const ABNORMAL = 1006;

/** `wasSilent`: closed because nothing arrived. `wasDismissed`: closed after a goodbye of the coordinator. */
export function linkEnd(code: number, { wasSilent = false, wasDismissed = false } = {}): LinkEnd {
  if (wasSilent) return 'silent';
  if (wasDismissed) return 'unknown';
  if (code === GOING_AWAY) return 'stopped';
  return code === ABNORMAL ? 'broken' : 'unknown';
}

/**
 * Reason for a host that has not reconnected since the coordinator's start. It may have been unreachable for longer.
 */
export const NOT_RECONNECTED_SINCE_START = 'NotReconnectedSinceStart';

const MESSAGES: Record<LinkEnd, readonly [reason: string, message: string]> = {
  silent: ['LinkSilent', 'No data from the agent: its host or the network is down.'],
  broken: [
    'LinkBroken',
    'The connection ended without a goodbye: the agent crashed, its host went down, or the network failed.',
  ],
  stopped: [
    'AgentStopped',
    'The agent was stopped. Its pods keep running unless the host went down as well.',
  ],
  notReconnected: [
    NOT_RECONNECTED_SINCE_START,
    "The agent has not reconnected since the coordinator's start.",
  ],
  unknown: ['LinkDown', 'The agent is not connected.'],
};

/** Returns the condition `Connected` of a node with a closed link. */
export function linkDown(type: string, end: LinkEnd): Condition {
  const [reason, message] = MESSAGES[end];
  return { type, status: 'False', reason, message };
}
