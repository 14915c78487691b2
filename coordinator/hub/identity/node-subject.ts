/** How a node is called as a user (upstream's pkg/auth/nodeidentifier). */

/** The group of all nodes. */
export const NODES_GROUP = 'system:nodes';
/** Of the user that a host is while it has nothing but a token. */
export const BOOTSTRAP_USER_PREFIX = 'system:bootstrap:';
/** Of the user that a node is. */
export const NODE_USER_PREFIX = 'system:node:';

/** The node that a subject is: a user `system:node:NAME` in the group `system:nodes`, and no other. */
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

/** The subject of a node's certificate, for people. */
export function subjectOfNode(node: string): string {
  return `O=${NODES_GROUP}, CN=${NODE_USER_PREFIX}${node}`;
}
