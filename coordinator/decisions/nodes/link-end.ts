/** Why the link to an agent is down, as far as the coordinator can tell: what people see of a host that is out of contact. */
import type { Condition } from '../../../shared/kube/objects/conditions.js';

/**
 * `silent`: nothing was heard any more. `broken`: the connection ended without a word, as when a process dies or a line is
 * cut by what is between. `stopped`: the agent said that it stops. `unheard`: it ended with a coordinator, and the next one
 * has not heard the agent. `unknown`: it is not known, or it was us.
 */
export type LinkEnd = 'silent' | 'broken' | 'stopped' | 'unheard' | 'unknown';

/** WebSocket close codes (RFC 6455, 7.4.1). */
const GOING_AWAY = 1001;
const ABNORMAL = 1006;

/** Of a WebSocket's close code. `wasSilent`: we closed it for its silence; `wasDismissed`: we said goodbye. */
export function linkEnd(code: number, { wasSilent = false, wasDismissed = false } = {}): LinkEnd {
  if (wasSilent) return 'silent';
  if (wasDismissed) return 'unknown';
  if (code === GOING_AWAY) return 'stopped';
  return code === ABNORMAL ? 'broken' : 'unknown';
}

/** Reason of a link that ended with a coordinator: nobody knows when the host was out of reach first. */
export const NOT_RECONNECTED_SINCE_START = 'NotReconnectedSinceStart';

const WORDS: Record<LinkEnd, readonly [reason: string, message: string]> = {
  silent: ['LinkSilent', 'The agent is not heard any more: its host or the network between is down.'],
  broken: [
    'LinkBroken',
    'The connection ended without a goodbye: the agent crashed, its host went down, or the line was cut.',
  ],
  stopped: ['AgentStopped', 'The agent was stopped; its pods run on unless its host went down as well.'],
  unheard: [NOT_RECONNECTED_SINCE_START, 'The coordinator has not heard the agent since its own start.'],
  unknown: ['LinkDown', 'The agent is not connected.'],
};

/** The condition `Connected` of a node whose link has ended. */
export function linkDown(type: string, end: LinkEnd): Condition {
  const [reason, message] = WORDS[end];
  return { type, status: 'False', reason, message };
}
