/** Checks a hello: the fleet must match, the name must match the credential, and each node has at most one session. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Goodbye, Hello } from '../../../shared/link/messages/link-messages.js';
import { ensureNode, type RegistrationDeps } from '../reports/ensure-node.js';
import type { Session } from './session.js';

/**
 * Retry delay for a clone, a foreign host or a refused Node. An operator may fix the cause, so the agent keeps trying.
 */
const SELDOM_MS = 60_000;
const SOON_MS = 5_000;

type AdmissionVerdict = { welcome: Node } | { goodbye: Omit<Goodbye, 'kind'>; isClone: boolean };

interface AdmissionDeps extends RegistrationDeps {
  clusterUID: string;
  sessionOf: (node: string) => Session | undefined;
  /** Removes a session from the live sessions, because another session replaces it. */
  releaseSession: (session: Session) => void;
}

/** Decides on a hello, and closes an outdated session of the same node. Rejects when the registry fails. */
export async function admitSession(
  deps: AdmissionDeps,
  session: Session,
  hello: Hello,
): Promise<AdmissionVerdict> {
  const refusal = refusalOf(deps, session, hello) ?? (await outlive(deps, session, hello));
  if (refusal) return refusal;
  try {
    const node = await ensureNode(deps, hello);
    return node ? { welcome: node } : { goodbye: nodeDeletedGoodbye(deps.clusterUID), isClone: false };
  } catch (error) {
    // For example labels or taints that are invalid on any Node.
    if (error instanceof ApiError && error.code < 500) return refused(error.message);
    throw error;
  }
}

/** The goodbye for an agent when its Node was deleted while the agent ran. */
export function nodeDeletedGoodbye(clusterUID: string): Omit<Goodbye, 'kind'> {
  return {
    reason: 'nodeDeleted',
    message: 'the Node was deleted; restart the agent to register it again',
    clusterUID,
  };
}

function refused(message: string): AdmissionVerdict {
  return { goodbye: { reason: 'refused', message, retryMs: SELDOM_MS }, isClone: false };
}

function refusalOf(
  { clusterUID }: AdmissionDeps,
  session: Session,
  hello: Hello,
): AdmissionVerdict | undefined {
  if (hello.node !== session.node) return refused(`the credential belongs to node ${session.node}`);
  if (hello.clusterUID !== undefined && hello.clusterUID !== clusterUID) {
    return refused('this coordinator belongs to another fleet');
  }
  return undefined;
}

/**
 * Enforces one session per node. A new connection of the same process replaces the old session. Another process is
 * refused while the old session still responds.
 */
async function outlive(
  { sessionOf, releaseSession: release }: AdmissionDeps,
  session: Session,
  hello: Hello,
): Promise<AdmissionVerdict | undefined> {
  const rival = sessionOf(session.node);
  if (!rival) return undefined;
  if (rival.instanceID !== hello.instanceID && (await rival.isAlive())) {
    const message =
      'another agent is connected under this name: stop it on its host, or join this host under another name (--node-name)';
    return { goodbye: { reason: 'duplicate', message, retryMs: SELDOM_MS }, isClone: true };
  }
  release(rival);
  rival.goodbye({ reason: 'superseded', message: 'a newer connection replaced this one', retryMs: SOON_MS });
  return undefined;
}
