/** Signed proof of a join, kept by the host. It admits the host if a restore has lost its registration. */

import {
  integer,
  ProtocolError,
  record,
  type Schema,
  text,
} from '../../../shared/link/encoding/schema-combinators.js';
import type { ObjectMac } from '../../../shared/link/messages/link-messages.js';
import type { ObjectSigner } from './object-signer.js';

const joinMac: Schema<ObjectMac> = record<ObjectMac>({
  epoch: text(128),
  revision: integer(0),
  tag: text(128),
});

/** Signs the hash of a credential as stored at `revision`. Returns the MAC as text. */
export function signJoin(signer: ObjectSigner, node: string, hash: string, revision: number): string {
  return JSON.stringify(signer.sign(node, signable(hash), revision));
}

/** True if this credential was registered for this node after the restored backup. False for any other text. */
export function isJoinedAfterBackup(
  signer: ObjectSigner,
  node: string,
  hash: string,
  macText: string,
): boolean {
  const mac = parseMac(macText);
  return mac !== undefined && signer.verifyAfterBackup(node, signable(hash), mac);
}

/** Wraps a credential's hash in the form that is signed. No object has this uid. */
function signable(hash: string): { uid: string; object: Buffer } {
  return { uid: 'node-credential', object: Buffer.from(hash) };
}

function parseMac(macText: string): ObjectMac | undefined {
  try {
    return joinMac(JSON.parse(macText), 'mac');
  } catch (error) {
    if (error instanceof ProtocolError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
