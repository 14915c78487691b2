/** Trust on first contact, secured by the token: only the authority with the token's key hash is accepted. */
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../process/time/clock.js';
import type { OpenTunnel } from './forward-proxy/proxy-tunnel.js';
import { limitConnectTime } from './limit-connect-time.js';
import { publicKeyHash } from './public-key-hash.js';

const TIMEOUT_MS = 15_000;
/** Longer than any real chain; a chain may contain a cycle. */
const MAX_CHAIN = 10;

/**
 * Resolves with the PEM of the certificate with this key hash in the server's chain; undefined if the chain has none.
 * Sends nothing to the untrusted server. Rejects if it cannot be reached. `connectTimeoutMs`: limit of the TCP
 * connection or of the tunnel through a proxy; absent: that of the whole handshake.
 */
export async function findAuthority(
  server: URL,
  keyHash: string,
  connectTimeoutMs?: number,
  openTunnel?: OpenTunnel,
): Promise<string | undefined> {
  const tunnel = await openTunnel?.(server, connectTimeoutMs);
  const socket = await connectUnverified(server, tunnel, connectTimeoutMs);
  try {
    let certificate = socket.getPeerX509Certificate();
    for (let depth = 0; certificate && depth < MAX_CHAIN; depth++) {
      if (publicKeyHash(certificate) === keyHash) return certificate.toString();
      certificate = certificate.issuerCertificate;
    }
    return undefined;
  } finally {
    socket.destroy();
  }
}

function connectUnverified(
  server: URL,
  tunnel: Socket | undefined,
  connectTimeoutMs: number | undefined,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: Number(server.port || 443),
      // The pinned hash decides instead.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
      ...(tunnel ? { socket: tunnel } : {}),
    });
    if (!tunnel) limitConnectTime(socket, systemClock, connectTimeoutMs);
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
  });
}
