/** Feature `certificates`: a host's certificate is renewed over the link that it has proved itself on. */

/** Asks for a new certificate for the key that the session was begun with. */
export interface RenewCertificate {
  kind: 'renew';
  /** PKCS #10 in PEM. */
  csr: string;
}

/** A new certificate, new authorities by which to know the coordinator, or both. Nothing is answered. */
export interface CertificateIssued {
  kind: 'certified';
  /** PEM; answers a `renew`. */
  certificate?: string;
  /** PEM: all that are to be trusted from now on. */
  ca?: string;
}
