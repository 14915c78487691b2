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

/**
 * Response 202 to a join or to the renewal of an expired certificate: an operator must approve it. The agent repeats
 * the request until then.
 */
export interface PendingJoinResponse {
  /** Name of the CertificateSigningRequest. */
  request: string;
  /** Text for the operator of the host. */
  message: string;
}

export interface JoinResponse {
  node: string;
  clusterUID: string;
  /** PEM, for the key of the request. */
  certificate: string;
  /** PEM of the CA certificates that the agent must trust from now on. */
  ca: string;
  /**
   * HMAC with which the hub can verify later that it accepted this key. The agent sends it in JOIN_MAC_HEADER, so that
   * a store restored from a backup before the join accepts the host.
   */
  joinMac?: string;
}
