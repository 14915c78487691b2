/** The seal that a host keeps of its join: after a restore it shows a coordinator that has forgotten the host that it was let in. */

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

/** The seal over a credential's hash as it is stored at `revision`, as text. */
export function signJoin(sealer: ObjectSigner, node: string, hash: string, revision: number): string {
  return JSON.stringify(sealer.sign(node, sealable(hash), revision));
}

/** True when this credential was registered for this node after the backup that was restored. False for any other text. */
export function isJoinedAfterBackup(
  sealer: ObjectSigner,
  node: string,
  hash: string,
  sealText: string,
): boolean {
  const seal = parseSeal(sealText);
  return seal !== undefined && sealer.verifyAfterBackup(node, sealable(hash), seal);
}

/** A credential's hash in the form that seals are made over; no object has such a uid. */
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
