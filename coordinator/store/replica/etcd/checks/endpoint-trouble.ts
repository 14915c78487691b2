/** Why an endpoint of etcd cannot be used. gRPC reports most of these reasons only as "no connection". */
import { connect } from 'node:http2';
import type { Clock } from '../../../../../shared/process/time/clock.js';
import { type EtcdAccess, readTlsFiles } from '../etcd-access.js';

const PROBE_MS = 2_000;

/** Codes of Node and OpenSSL for a certificate of another authority. */
const OTHER_AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no program listens there',
  EHOSTUNREACH: 'there is no route to this host',
  ENETUNREACH: 'there is no route to its network',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'the name server does not answer',
  ETIMEDOUT: 'no answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not valid yet: compare the machines' clocks",
};

/** An error of a connection, as Node reports it. */
export interface ConnectionError {
  readonly code?: string;
  readonly message: string;
}

/** Returns what is wrong with an endpoint, as the end of a sentence that begins with its address. */
export function describeTrouble({ code = '', message }: ConnectionError, access: EtcdAccess): string {
  const known = SENTENCES[code];
  if (known !== undefined) return known;
  if (access.isSecure) {
    if (OTHER_AUTHORITY.has(code))
      return `its certificate is not from the authority in ${access.caFile} (--etcd-ca)`;
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another address';
    if (/wrong version number|packet length too long/.test(message))
      return 'it does not speak TLS: its etcd listens with http';
    if (/alert/.test(message) && /certificate|unknown ca|access denied/.test(message))
      return `it rejects the client certificate in ${access.certFile} (--etcd-cert)`;
    if (code === 'ECONNRESET')
      return `it closes the connection, so it may reject the client certificate in ${access.certFile} (--etcd-cert)`;
  }
  if (code === 'ECONNRESET' || code.startsWith('ERR_HTTP2'))
    return 'it does not answer as etcd: it may need https';
  return message;
}

/** Connects once. Resolves with undefined if the endpoint speaks HTTP/2, over TLS with `https`. */
export function probeEndpoint(
  endpoint: string,
  access: EtcdAccess,
  clock: Clock,
): Promise<ConnectionError | undefined> {
  return new Promise((resolve) => {
    const session = connect(endpoint, readTlsFiles(access) ?? {});
    const end = (error?: ConnectionError): void => {
      timer.cancel();
      session.destroy();
      resolve(error);
    };
    const timer = clock.after(PROBE_MS, () => end({ code: 'ETIMEDOUT', message: 'no answer' }));
    // With TLS 1.3 the other side rejects a client certificate after the handshake, and sends no settings then.
    session.on('remoteSettings', () => end());
    session.on('error', (error: ConnectionError) => end(error));
    session.on('close', () => end({ code: 'ECONNRESET', message: 'closed' }));
  });
}
