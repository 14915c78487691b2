/**
 * Proof of a host's key inside the link's handshake, for a coordinator that does not see the host's TLS: a reverse proxy
 * ends it. The agent names its certificate in the upgrade; the answer carries a challenge; the first frame is the
 * signature over it. A challenge is good on its own connection, once.
 */
import { type KeyObject, sign, verify } from 'node:crypto';

/** Request header of a link: the host's certificate, DER in base64. */
export const CERTIFICATE_HEADER = 'everynode-certificate';
/** Header of the answer where a proof is wanted: the challenge. */
export const CHALLENGE_HEADER = 'everynode-challenge';

/** What is signed. */
interface Challenge {
  /** Whose fleet it is: a proof for one is none for another. */
  clusterUID: string;
  node: string;
  /** Random, made for this connection. */
  nonce: string;
}

/** The signature: the whole first frame. `key`: PEM. */
export function signChallenge(key: string, challenge: Challenge): Buffer {
  return sign('sha256', textOf(challenge), key);
}

/** True for the signature of this challenge by the private half of `key`; whatever the bytes are, it does not throw. */
export function verifyChallenge(key: KeyObject, challenge: Challenge, proof: Uint8Array): boolean {
  try {
    return verify('sha256', textOf(challenge), key, proof);
  } catch {
    return false;
  }
}

function textOf({ clusterUID, node, nonce }: Challenge): Buffer {
  return Buffer.from(JSON.stringify(['everynode link proof 1', clusterUID, node, nonce]));
}
