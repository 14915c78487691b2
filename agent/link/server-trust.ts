/**
 * Decides which server an agent trusts: its certificate must lead to a pinned authority and name the host. A host's
 * clock may be wrong (1970 after a flat battery). Therefore an expired certificate is refused only if it ended before
 * this host was certified.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { isHostSubject } from '../../shared/link/host-subject.js';

const TIME_ERRORS = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** Longer than any real chain; a chain may contain a cycle. */
const MAX_CHAIN = 10;

export interface ServerTrust {
  /** PEM of the authorities. */
  ca: string;
  /** PEM of the host's own certificate: its start is a lower bound of the current time. */
  certificate?: string | undefined;
}

/** Replaces `tls.connect`. Nothing is sent before the server is trusted; an untrusted server loses the connection. */
export function connectTrusting(options: ConnectionOptions, trust: ServerTrust): TLSSocket {
  const host = options.host ?? '';
  const socket = connect({
    ...options,
    // https sets `path` to the URL's path, which tls would use as a Unix socket.
    path: undefined,
    servername: options.servername || (isIP(host) ? '' : host),
    ca: trust.ca,
    allowPartialTrustChain: true,
    // Verified below in the same event loop turn; data written before waits for the end of the handshake.
    rejectUnauthorized: false,
  });
  socket.prependOnceListener('secureConnect', () => {
    const refusal = refusalOf(socket, host, trust);
    if (refusal === undefined) return;
    const code = socket.authorized ? undefined : String(socket.authorizationError);
    socket.destroy(Object.assign(new Error(refusal), { code }));
  });
  return socket;
}

function refusalOf(socket: TLSSocket, host: string, trust: ServerTrust): string | undefined {
  // Read once: a second call takes the next certificate of the chain.
  const certificate = socket.getPeerX509Certificate();
  // A host's certificate for the kubelet's port has the same authority. A host must not pose as a coordinator that is
  // reached by a name which the coordinator itself does not know.
  if (certificate && isHostSubject(certificate.toLegacyObject().subject))
    return "the server's certificate is not trusted: it is a host's";
  if (socket.authorized) return undefined;
  // A string at runtime, although its type is Error.
  const reason = String(socket.authorizationError);
  if (!TIME_ERRORS.has(reason)) return `the server's certificate is not trusted: ${reason}`;
  // Only a server that was trusted before can resume its session.
  if (socket.isSessionReused()) return undefined;
  const why = certificate
    ? refusalIgnoringExpiry(certificate, host, trust, Date.now())
    : 'the server shows none';
  return why === undefined ? undefined : `the server's certificate is not trusted: ${why}`;
}

/**
 * Returns why a certificate is refused, ignoring plain clock errors; undefined if it is trusted. `certificate` carries
 * its chain; `now` is the host's time, ms.
 */
export function refusalIgnoringExpiry(
  certificate: X509Certificate,
  host: string,
  { ca, certificate: own }: ServerTrust,
  now: number,
): string | undefined {
  const names = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
  if (!names) return `it does not name ${host}`;
  if (!certificate.keyUsage?.includes(SERVER_AUTH)) return 'it is not a server certificate';
  const floorMs = own === undefined ? 0 : Date.parse(new X509Certificate(own).validFrom);
  const [beginMs, endMs] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  // A certificate that is valid by the host's own clock is accepted, even if the coordinator's clock was ahead when it
  // certified this host.
  const isInTime = beginMs <= now && now < endMs;
  if (!isInTime && endMs < floorMs) return 'it expired before this host was certified';
  return leadsTo(certificate, certificatesIn(ca)) ? undefined : 'it was not issued by a known authority';
}

function leadsTo(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let current = certificate;
  for (let depth = 0; depth < MAX_CHAIN; depth += 1) {
    const last = current;
    if (authorities.some((each) => each.fingerprint256 === last.fingerprint256)) return true;
    if (authorities.some((each) => isIssuedBy(last, each))) return true;
    const issuer = last.issuerCertificate;
    if (!issuer || !isIssuedBy(last, issuer)) return false;
    current = issuer;
  }
  return false;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Returns every certificate in a PEM text. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
