/** Requests and responses of a join. */

/**
 * Body of the POST request. Response 409: the name is taken. Response 401: the token is invalid. The agent generates
 * its key itself, so it can repeat a request whose response was lost.
 */
export interface JoinRequest {
  node: string;
  /** PKCS #10 in PEM, for `O=system:nodes, CN=system:node:NAME`. */
  csr: string;
  /** Labels that the host will register with. Shown to the operator who approves. */
  labels?: Record<string, string>;
}

/** Response 202: an operator must approve the join or renewal. The agent repeats its request. */
export interface PendingJoinResponse {
  request: string;
  /** Text for the operator of the host. */
  message: string;
}

/** Response 200: the host's certificate, and the authorities that it must trust. */
export interface JoinResponse {
  node: string;
  clusterUID: string;
  /** PEM, for the key of the request. */
  certificate: string;
  /** PEM of the CA certificates that the agent must trust from now on. */
  ca: string;
  /** HMAC that proves the join to a store restored from an older backup. Sent in JOIN_MAC_HEADER. */
  joinMac?: string;
}
