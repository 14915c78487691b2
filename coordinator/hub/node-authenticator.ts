/**
 * Which node is at the other end of a link: by the certificate of its connection, else by one whose key it is yet to
 * prove, else by the bearer credential of before certificates.
 */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { JOIN_SEAL_HEADER } from '../../shared/link/messages.js';
import { CERTIFICATE_HEADER } from '../../shared/link/proof.js';
import type { Clock } from '../../shared/process/clock.js';
import type { CertificateAuthority } from '../pki/certificate-authority.js';
import { type PeerCertificate, peerCertificateOf } from '../pki/peer-certificate.js';
import { bearerOf } from './bearer.js';
import { hasJoinedSince } from './join-seal.js';
import { sha256 } from './join-token.js';
import { claimedIn } from './link-proof.js';
import { type CredentialHash, isSameCredential, type NodeCredentials } from './node-credentials.js';
import { nodeOfSubject } from './node-subject.js';
import type { PendingRestore } from './pending-restore.js';
import type { Sealer } from './seal.js';
import { unauthorized } from './unauthorized.js';

/** Which node an agent proved to be, and the hash of what it proved it by. */
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
  /** The header, of an agent that joined before certificates. */
  authorization?: string | undefined;
  /** That of its join. */
  seal?: string | undefined;
}

export interface NodeAuthenticatorParts {
  credentials: NodeCredentials;
  sealer: Sealer;
  authority: Pick<CertificateAuthority, 'recognise'>;
  /** Absent when nothing was restored, or that cannot be. */
  restore?: PendingRestore | undefined;
  clock: Clock;
}

export class NodeAuthenticator {
  readonly #parts: NodeAuthenticatorParts;

  constructor(parts: NodeAuthenticatorParts) {
    this.#parts = parts;
  }

  /** The node of an upgrade; with the key that it has to prove, where its connection has not done so. Throws ApiError 401. */
  async claimOf({ headers, socket }: IncomingMessage): Promise<LinkClaim> {
    const { authority, clock } = this.#parts;
    const { authorization, [JOIN_SEAL_HEADER]: sealHeader } = headers;
    const seal = typeof sealHeader === 'string' ? sealHeader : undefined;
    const certificate = peerCertificateOf(socket, clock.now());
    const claimed = certificate ? undefined : claimedIn(headers[CERTIFICATE_HEADER], authority);
    const proof = { certificate: certificate ?? claimed?.peer, authorization, seal };
    return { ...(await this.authenticate(proof)), key: claimed?.key };
  }

  /** The node that the connection's own certificate names, whether it is let in or not. */
  nameOf({ socket }: IncomingMessage): string | undefined {
    const peer = peerCertificateOf(socket, this.#parts.clock.now());
    return peer && nodeOfSubject(peer);
  }

  /** The node that a proof is of. Throws ApiError 401. */
  async authenticate({ certificate, authorization, seal }: LinkProof): Promise<ProvenNode> {
    const claimed = certificate ? ofCertificate(certificate) : ofBearer(authorization);
    if (!claimed) throw unauthorized();
    const { node, ...credential } = claimed;
    const proven = { node, hash: credential.hash };
    if (isSameCredential(await this.#parts.credentials.get(node), credential)) return proven;
    if (!this.#isForgotten(node, credential.hash, seal)) throw unauthorized();
    await this.#takeBack(node, credential);
    return proven;
  }

  /** After a restore: true when this host joined after the backup, so that the store cannot know it. Only until a person confirms: afterwards a missing Secret means revoked. */
  #isForgotten(node: string, hash: string, seal: string | undefined): boolean {
    const { restore, sealer } = this.#parts;
    return seal !== undefined && !!restore?.unconfirmed() && hasJoinedSince(sealer, node, hash, seal);
  }

  /** Stores a credential that the store has lost, in place of an older one of this name. */
  async #takeBack(node: string, credential: CredentialHash): Promise<void> {
    const { credentials } = this.#parts;
    if (isSameCredential(await credentials.register(node, credential), credential)) return;
    await credentials.replace(node, credential);
  }
}

function ofCertificate(certificate: PeerCertificate): (CredentialHash & { node: string }) | undefined {
  const node = nodeOfSubject(certificate);
  return node === undefined ? undefined : { node, form: 'key', hash: certificate.keyHash };
}

function ofBearer(authorization: string | undefined): (CredentialHash & { node: string }) | undefined {
  const credential = bearerOf(authorization);
  const node = /^[\w-]{43}\.(.{1,253})$/.exec(credential)?.[1];
  return node === undefined ? undefined : { node, form: 'bearer', hash: sha256(credential) };
}
