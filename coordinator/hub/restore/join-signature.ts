/**
 * Signed proof that a host has joined. The host stores it. If a restore has lost the registration, the host shows the
 * proof to be admitted again.
 */

import {
  integer,
  ProtocolError,
  record,
  type Schema,
  text,
} from '../../../shared/link/encoding/schema-combinators.js';
import type { ObjectMac } from '../../../shared/link/messages/link-messages.js';
import type { ObjectSigner } from './object-signer.js';

const joinSeal: Schema<ObjectMac> = record<ObjectMac>({
  epoch: text(128),
  revision: integer(0),
  tag: text(128),
});

/** Signs the hash of a credential as stored at `revision`. Returns the MAC as text. */
export function signJoin(sealer: ObjectSigner, node: string, hash: string, revision: number): string {
  return JSON.stringify(sealer.sign(node, sealable(hash), revision));
}

/** True if this credential was registered for this node after the restored backup. False for any other text. */
export function isJoinedAfterBackup(
  sealer: ObjectSigner,
  node: string,
  hash: string,
  sealText: string,
): boolean {
  const seal = parseSeal(sealText);
  return seal !== undefined && sealer.verifyAfterBackup(node, sealable(hash), seal);
}

/** Wraps a credential's hash in the form that is signed. No object has this uid. */
function sealable(hash: string): { uid: string; object: Buffer } {
  return { uid: 'node-credential', object: Buffer.from(hash) };
}

function parseSeal(sealText: string): ObjectMac | undefined {
  try {
    return joinSeal(JSON.parse(sealText), 'seal');
  } catch (error) {
    if (error instanceof ProtocolError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
