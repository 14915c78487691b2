/** Which node is at the other end of a link: by the certificate of its connection, else by one whose key it is yet to prove. */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CERTIFICATE_HEADER } from '../../../shared/link/key-proof.js';
import { JOIN_MAC_HEADER } from '../../../shared/link/messages/link-messages.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import { type PeerCertificate, peerCertificateOf } from '../../pki/peer-certificate.js';
import { isJoinedAfterBackup } from '../restore/join-signature.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { PendingRestore } from '../restore/pending-restore.js';
import { claimedCertificate } from './link-proof.js';
import { isSameHash, type NodeCredentials } from './node-credentials.js';
import { nodeOfSubject } from './node-subject.js';
import { unauthorized } from './unauthorized.js';

/** Which node an agent proved to be, and the hash of its key. */
export interface ProvenNode {
  node: string;
  hash: string;
  /** By which it is known over HTTPS while the link stands, where a proxy hides its certificate. */
  bearer?: string;
}

/** Which node it is; with `key` only once that has signed a challenge. */
export interface LinkClaim extends ProvenNode {
  key?: KeyObject | undefined;
}

/** What an agent shows when its link begins. */
interface LinkProof {
  /** Of the TLS connection, or the header's. */
  certificate?: PeerCertificate | undefined;
  /** That of its join. */
  joinMac?: string | undefined;
}

export interface NodeAuthenticatorDeps {
  credentials: NodeCredentials;
  signer: ObjectSigner;
  authority: Pick<CertificateAuthority, 'recognise'>;
  /** Absent when nothing was restored, or that cannot be. */
  restore?: PendingRestore | undefined;
  clock: Clock;
}

export class NodeAuthenticator {
  readonly #parts: NodeAuthenticatorDeps;

  constructor(parts: NodeAuthenticatorDeps) {
    this.#parts = parts;
  }

  /** The node of an upgrade; with the key that it has to prove, where its connection has not done so. Throws ApiError 401. */
  async claimOf({ headers, socket }: IncomingMessage): Promise<LinkClaim> {
    const { authority, clock } = this.#parts;
    const { [JOIN_MAC_HEADER]: macHeader } = headers;
    const joinMac = typeof macHeader === 'string' ? macHeader : undefined;
    const certificate = peerCertificateOf(socket, clock.now());
    const claimed = certificate ? undefined : claimedCertificate(headers[CERTIFICATE_HEADER], authority);
    const proof = { certificate: certificate ?? claimed?.peer, joinMac };
    return { ...(await this.authenticate(proof)), key: claimed?.key };
  }

  /** The node that the connection's own certificate names, whether it is let in or not. */
  nameOf({ socket }: IncomingMessage): string | undefined {
    const peer = peerCertificateOf(socket, this.#parts.clock.now());
    return peer && nodeOfSubject(peer);
  }

  /** The node that a proof is of. Throws ApiError 401. */
  async authenticate({ certificate, joinMac }: LinkProof): Promise<ProvenNode> {
    const node = certificate && nodeOfSubject(certificate);
    if (!certificate || node === undefined) throw unauthorized();
    const hash = certificate.keyHash;
    const stored = await this.#parts.credentials.get(node);
    if (isSameHash(stored?.hash, hash)) return { node, hash };
    if (!this.#isForgotten(node, hash, joinMac)) throw unauthorized();
    await this.#takeBack(node, hash);
    return { node, hash };
  }

  /** After a restore: true when this host joined after the backup, so that the store cannot know it. Only until a person confirms: afterwards a missing Secret means revoked. */
  #isForgotten(node: string, hash: string, joinMac: string | undefined): boolean {
    const { restore, signer: sealer } = this.#parts;
    return (
      joinMac !== undefined && !!restore?.unconfirmed() && isJoinedAfterBackup(sealer, node, hash, joinMac)
    );
  }

  /** Stores a credential that the store has lost, in place of an older one of this name. */
  async #takeBack(node: string, hash: string): Promise<void> {
    const { credentials } = this.#parts;
    if (isSameHash((await credentials.register(node, { hash }))?.hash, hash)) return;
    await credentials.replace(node, { hash });
  }
}
