/** User names of nodes (upstream's pkg/auth/nodeidentifier). */
import { NODE_USER_PREFIX, NODES_GROUP } from '../../../shared/kube/access/node-identity.js';

/** User name prefix of a host that has only a join token. */
export const BOOTSTRAP_USER_PREFIX = 'system:bootstrap:';

/** Returns the node of a certificate subject: exactly the user `system:node:NAME` in the group `system:nodes`. */
export function nodeOfSubject(subject: {
  commonName: string;
  organizations: readonly string[];
}): string | undefined {
  const { commonName, organizations } = subject;
  const isNode = organizations.length === 1 && organizations[0] === NODES_GROUP;
  return isNode && commonName.startsWith(NODE_USER_PREFIX)
    ? commonName.slice(NODE_USER_PREFIX.length)
    : undefined;
}

/** Returns the subject of a node's certificate as text. */
export function subjectOfNode(node: string): string {
  return `O=${NODES_GROUP}, CN=${NODE_USER_PREFIX}${node}`;
}
