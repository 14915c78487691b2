/** Whether a hello is let in: the right fleet, the right name, and one session a node. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Goodbye, Hello } from '../../../shared/link/messages/link-messages.js';
import { ensureNode, type RegistrationDeps } from '../reports/ensure-node.js';
import type { Session } from './session.js';

/** A clone, a stranger or a refused Node asks again, but seldom: what was wrong may be put right. */
const SELDOM_MS = 60_000;
const SOON_MS = 5_000;

type AdmissionVerdict = { welcome: Node } | { goodbye: Omit<Goodbye, 'kind'>; isClone: boolean };

interface AdmissionDeps extends RegistrationDeps {
  clusterUID: string;
  /** The live session of a node. */
  sessionOf: (node: string) => Session | undefined;
  /** The session counts for its node no more: another takes its place. */
  releaseSession: (session: Session) => void;
}

/** Decides on a hello; sends an outlived session of the same node away. Rejects when the registry fails. */
export async function admitSession(
  parts: AdmissionDeps,
  session: Session,
  hello: Hello,
): Promise<AdmissionVerdict> {
  const refusal = refusalOf(parts, session, hello) ?? (await outlive(parts, session, hello));
  if (refusal) return refusal;
  try {
    const node = await ensureNode(parts, hello);
    return node ? { welcome: node } : { goodbye: nodeDeletedGoodbye(parts.clusterUID), isClone: false };
  } catch (error) {
    // Labels or taints that no Node may have, for instance.
    if (error instanceof ApiError && error.code < 500) return refused(error.message);
    throw error;
  }
}

/** What an agent hears whose Node was deleted while it ran. */
export function nodeDeletedGoodbye(clusterUID: string): Omit<Goodbye, 'kind'> {
  return {
    reason: 'nodeDeleted',
    message: 'the Node was deleted; restart the agent to register it anew',
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
  if (hello.node !== session.node) return refused(`the credential is that of node ${session.node}`);
  if (hello.clusterUID !== undefined && hello.clusterUID !== clusterUID) {
    return refused('this coordinator belongs to another fleet');
  }
  return undefined;
}

/** One session a node: the same process replaces its old one; another's is refused while the old one answers. */
async function outlive(
  { sessionOf, releaseSession: release }: AdmissionDeps,
  session: Session,
  hello: Hello,
): Promise<AdmissionVerdict | undefined> {
  const rival = sessionOf(session.node);
  if (!rival) return undefined;
  if (rival.instanceID !== hello.instanceID && (await rival.isAlive())) {
    const message =
      'another agent is connected under this name: stop it on its host, or join this host under another one (--node-name)';
    return { goodbye: { reason: 'duplicate', message, retryMs: SELDOM_MS }, isClone: true };
  }
  release(rival);
  rival.goodbye({ reason: 'superseded', message: 'a newer connection took over', retryMs: SOON_MS });
  return undefined;
}
