/** How a host joins: what it posts, and what it is answered. */

/**
 * POST body of a join. A taken name is 409, a wrong token 401.
 * The agent makes its key and sends a request for a certificate, so a join whose answer was lost can be repeated.
 */
export interface JoinRequest {
  node: string;
  /** PKCS #10 in PEM, for `O=system:nodes, CN=system:node:NAME`. */
  csr: string;
  /** What the host will register with, for people who decide on many at once. */
  labels?: Record<string, string>;
}

/** Answer 202 to a join, or to a host whose certificate has expired: a person has to decide. The same request, later, asks again. */
export interface PendingJoinResponse {
  /** Name of the CertificateSigningRequest. */
  request: string;
  /** For people. */
  message: string;
}

export interface JoinResponse {
  node: string;
  clusterUID: string;
  /** PEM, for the key of the request. */
  certificate: string;
  /** PEM of the authorities by which to know the coordinator from now on. */
  ca: string;
  /** The hub's word that it took this key, to be sent as JOIN_SEAL_HEADER: a store restored from before the join believes it. */
  joinMac?: string;
}
