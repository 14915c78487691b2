/** Proof of a node's key inside the link's handshake (`shared/link/key-proof.ts`): the hub's half. */
import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import type { WebSocket } from 'ws';
import { verifyChallenge } from '../../../shared/link/key-proof.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { PeerCertificate } from '../../pki/peer-certificate.js';

/** From the upgrade to the proof. */
const PROOF_TIMEOUT_MS = 10_000;
/** DER in base64; ours are a third of it. */
const MAX_HEADER_CHARACTERS = 4_096;
const NONCE_BYTES = 32;
/** WebSocket close code (RFC 6455, 7.4.1): policy violation. */
const CLOSE_REFUSED = 1008;

/** Whom a header claims to be, and the key that has to prove it. */
interface ClaimedCertificate {
  peer: PeerCertificate;
  key: KeyObject;
}

/** The certificate that a header names; undefined unless it is one of ours, and good. */
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

/** For one connection, once. */
export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

/** Whose proof is waited for. */
interface AwaitedProof {
  key: KeyObject;
  clusterUID: string;
  node: string;
  nonce: string;
}

/** Takes the first frame for the proof: `proven` in the same turn, so that no frame after it is missed, or the socket is closed. */
export function awaitProof(
  socket: WebSocket,
  { key, ...challenge }: AwaitedProof,
  clock: Clock,
  on: { proven: () => void; refused: () => void },
): void {
  const timer = clock.after(PROOF_TIMEOUT_MS, () => socket.terminate());
  socket.on('error', () => socket.terminate());
  socket.once('close', () => timer.cancel());
  socket.once('message', (frame) => {
    timer.cancel();
    if (Buffer.isBuffer(frame) && verifyChallenge(key, challenge, frame)) on.proven();
    else {
      on.refused();
      socket.close(CLOSE_REFUSED, 'the proof is wrong');
    }
  });
}
