/**
 * Which server an agent talks to: one whose certificate leads to a pinned authority and names the host. A host does not
 * know what time it is (1970, after a flat battery), so times alone refuse nothing but what ended, by the host's own clock as well,
 * before a moment that the coordinator itself has certified.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

const TIME_ERRORS = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** Longer than any real chain; a chain may also run in a circle. */
const MAX_CHAIN = 10;

/** What is trusted. */
interface ServerTrust {
  /** PEM of the authorities. */
  ca: string;
  /** The host's own certificate, PEM: the time has passed its beginning. */
  certificate?: string | undefined;
}

/** In the place of `tls.connect`: nothing is sent before the server is known; one that is not loses the connection. */
export function connectTrusting(options: ConnectionOptions, trust: ServerTrust): TLSSocket {
  const host = options.host ?? '';
  const socket = connect({
    ...options,
    // What https calls a path would be a unix socket here.
    path: undefined,
    servername: options.servername || (isIP(host) ? '' : host),
    ca: trust.ca,
    allowPartialTrustChain: true,
    // Judged below, in the same turn: what was written waits for the end of the handshake.
    rejectUnauthorized: false,
  });
  socket.prependOnceListener('secureConnect', () => {
    const refusal = refusalOf(socket, host, trust);
    if (refusal !== undefined) socket.destroy(new Error(refusal));
  });
  return socket;
}

function refusalOf(socket: TLSSocket, host: string, trust: ServerTrust): string | undefined {
  if (socket.authorized) return undefined;
  // As text, whatever its type says.
  const reason = String(socket.authorizationError);
  if (!TIME_ERRORS.has(reason)) return `the server's certificate is not trusted: ${reason}`;
  // Nobody else can resume a session of a server that was trusted.
  if (socket.isSessionReused()) return undefined;
  const certificate = socket.getPeerX509Certificate();
  const why = certificate ? refusalIgnoringExpiry(certificate, host, trust, Date.now()) : 'it shows none';
  return why === undefined ? undefined : `the server's certificate is not trusted: ${why}`;
}

/** Why a certificate is refused whatever the time; undefined when it is trusted. The chain hangs on `certificate`; `now` is the host's, ms. */
export function refusalIgnoringExpiry(
  certificate: X509Certificate,
  host: string,
  { ca, certificate: own }: ServerTrust,
  now: number,
): string | undefined {
  const names = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
  if (!names) return `it does not name ${host}`;
  if (!certificate.keyUsage?.includes(SERVER_AUTH)) return 'it is not that of a server';
  const floorMs = own === undefined ? 0 : Date.parse(new X509Certificate(own).validFrom);
  const [beginMs, endMs] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  // In time by the host's own clock, too: both ends agree on the present, and what certified this host was ahead.
  const isInTime = beginMs <= now && now < endMs;
  if (!isInTime && endMs < floorMs) return 'it ended before this host was certified';
  return leadsTo(certificate, certificatesIn(ca)) ? undefined : 'it leads to no authority that is known';
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

/** Every certificate in a PEM text. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
