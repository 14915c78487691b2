/** Trust on first contact, made safe by the token: only the authority whose key the token names is accepted. */
import { connect, type TLSSocket } from 'node:tls';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';

const TIMEOUT_MS = 15_000;
/** Longer than any real chain; a chain may also run in a circle. */
const MAX_CHAIN = 10;

/**
 * PEM of the certificate with this key hash out of the chain that the server presents; undefined when it presents none.
 * Nothing is sent to the server, for it is not trusted yet. Rejects when it cannot be reached.
 */
export async function findAuthority(server: URL, keyHash: string): Promise<string | undefined> {
  const socket = await connectUnverified(server);
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

function connectUnverified(server: URL): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: Number(server.port || 443),
      // What the server presents is judged by the pinned hash instead.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
  });
}
