/** The hub's half of proving a node's key during the link's handshake (`shared/link/key-proof.ts`). */
import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { verifyChallenge } from '../../../shared/link/key-proof.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { PeerCertificate } from '../../pki/peer-certificate.js';
import type { LinkSocket } from '../sessions/link-socket.js';

/** Time limit from the upgrade to the proof. */
const PROOF_TIMEOUT_MS = 10_000;
/** Limit for base64-encoded DER, three times the usual size. */
const MAX_HEADER_CHARACTERS = 4_096;
const NONCE_BYTES = 32;
/** WebSocket close code (RFC 6455, 7.4.1): policy violation. */
const CLOSE_REFUSED = 1008;

/** The identity that a header claims, and the key that has to prove it. */
interface ClaimedCertificate {
  peer: PeerCertificate;
  key: KeyObject;
}

/** Returns the certificate in a header, or undefined unless it is valid and issued by this coordinator. */
export function claimedCertificate(
  header: unknown,
  authority: Pick<CertificateAuthority, 'recognise'>,
): ClaimedCertificate | undefined {
  if (typeof header !== 'string' || header.length > MAX_HEADER_CHARACTERS) return undefined;
  try {
    const certificate = new X509Certificate(Buffer.from(header, 'base64'));
    const peer = authority.recognise(certificate);
    return peer && { peer, key: certificate.publicKey };
  } catch {
    return undefined;
  }
}

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

/** The identity that the agent has to prove. */
interface AwaitedProof {
  key: KeyObject;
  clusterUID: string;
  node: string;
  nonce: string;
}

/**
 * Treats the first frame as the proof. `proven` runs in the same turn of the event loop, so that no later frame is
 * lost. A wrong proof closes the socket.
 */
export function awaitProof(
  socket: LinkSocket,
  { key, ...challenge }: AwaitedProof,
  clock: Clock,
  on: { proven: () => void; refused: () => void },
): void {
  const terminate = () => socket.terminate();
  const timer = clock.after(PROOF_TIMEOUT_MS, terminate);
  const cancel = () => timer.cancel();
  socket.on('error', terminate);
  socket.once('close', cancel);
  socket.once('message', (frame) => {
    timer.cancel();
    if (Buffer.isBuffer(frame) && verifyChallenge(key, challenge, frame)) {
      // A listener would keep the key and the claim in memory for the lifetime of the link.
      socket.off('error', terminate).off('close', cancel);
      on.proven();
    } else {
      on.refused();
      socket.close(CLOSE_REFUSED, 'the proof is invalid');
    }
  });
}
