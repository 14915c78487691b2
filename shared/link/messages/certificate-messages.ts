/** Feature `certificates`: renewal of a host's certificate over its authenticated link. */

/** Requests a new certificate for the key of the session. */
export interface RenewCertificate {
  kind: 'renew';
  /** PKCS #10 in PEM. */
  csr: string;
}

/** Delivers a new certificate, new CA certificates, or both. Not acknowledged. */
export interface CertificateIssued {
  kind: 'certified';
  /** PEM. The response to a `renew`. */
  certificate?: string;
  /** PEM of all CA certificates to trust from now on. */
  ca?: string;
}
