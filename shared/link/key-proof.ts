/**
 * Proof of a host's key within the link's handshake, for a coordinator behind a reverse proxy that terminates TLS. The
 * agent sends its certificate in the upgrade request. The response carries a challenge. The first frame is the
 * signature of the challenge. A challenge is valid once, and only on its connection.
 */
import { type KeyObject, sign, verify } from 'node:crypto';

/** Request header with the host's certificate, DER in base64. */
export const CERTIFICATE_HEADER = 'everynode-certificate';
/** Response header with the challenge, if a proof is required. */
export const CHALLENGE_HEADER = 'everynode-challenge';

interface Challenge {
  /** Identifies the fleet, so that a signature is not valid for another one. */
  clusterUID: string;
  node: string;
  /** Random value of this connection. */
  nonce: string;
}

/** Returns the signature, which is the whole first frame. `key` is PEM. */
export function signChallenge(key: string, challenge: Challenge): Buffer {
  return sign('sha256', textOf(challenge), key);
}

/** Returns true if `proof` is a valid signature of the challenge by `key`. Does not throw for malformed bytes. */
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
