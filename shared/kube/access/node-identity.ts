/** The user and the group of a node (upstream's pkg/auth/nodeidentifier). Certificates of hosts name both. */

export const NODES_GROUP = 'system:nodes';
export const NODE_USER_PREFIX = 'system:node:';
