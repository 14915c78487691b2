/**
 * Identifies the node at the other end of a link. The proof is the client certificate of the connection, or a
 * certificate in a header with a signed challenge.
 */
import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CERTIFICATE_HEADER } from '../../../shared/link/key-proof.js';
import { JOIN_MAC_HEADER } from '../../../shared/link/messages/link-messages.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { PeerCertificate } from '../../pki/peer-certificate.js';
import { isJoinedAfterBackup } from '../restore/join-signature.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { PendingRestore } from '../restore/returned-pods.js';
import { unauthorized } from './bearer-token.js';
import { claimedCertificate } from './link-proof.js';
import { isSameHash, type NodeCredentials } from './node-credentials.js';
import { nodeOfSubject } from './node-subject.js';

/** The proven node name, and the hash of the agent's key. */
export interface ProvenNode {
  node: string;
  hash: string;
  /** Identifies the node over HTTPS while the link is open, where a proxy hides the client certificate. */
  bearer?: string;
}

/** The claimed node. If `key` is set, that key has to sign a challenge first. */
export interface LinkClaim extends ProvenNode {
  key?: KeyObject | undefined;
}

/** The headers of an upgrade, and the certificate that the TLS connection proves. */
interface LinkIdentity {
  headers: IncomingHttpHeaders;
  peer: PeerCertificate | undefined;
}

/** The proof that an agent presents when it connects. */
interface LinkProof {
  /** From the TLS connection or from the header. */
  certificate?: PeerCertificate | undefined;
  /** The signed proof of an earlier join. */
  joinMac?: string | undefined;
}

export interface NodeAuthenticatorDeps {
  credentials: NodeCredentials;
  signer: ObjectSigner;
  authority: Pick<CertificateAuthority, 'recognise'>;
  /** Absent if nothing was restored, or restores are not possible. */
  restore?: PendingRestore | undefined;
}

export class NodeAuthenticator {
  readonly #deps: NodeAuthenticatorDeps;

  constructor(deps: NodeAuthenticatorDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the node that an upgrade claims to be. If the TLS connection does not prove the key, the result contains
   * the key to prove. Throws ApiError 401.
   */
  async claimOf({ headers, peer }: LinkIdentity): Promise<LinkClaim> {
    const { authority } = this.#deps;
    const { [JOIN_MAC_HEADER]: macHeader } = headers;
    const joinMac = typeof macHeader === 'string' ? macHeader : undefined;
    const claimed = peer ? undefined : claimedCertificate(headers[CERTIFICATE_HEADER], authority);
    const proof = { certificate: peer ?? claimed?.peer, joinMac };
    return { ...(await this.authenticate(proof)), key: claimed?.key };
  }

  async authenticate({ certificate, joinMac }: LinkProof): Promise<ProvenNode> {
    const node = certificate && nodeOfSubject(certificate);
    if (!certificate || node === undefined) throw unauthorized();
    const hash = certificate.keyHash;
    const stored = await this.#deps.credentials.get(node);
    if (isSameHash(stored?.hash, hash)) return { node, hash };
    if (!this.#isForgotten(node, hash, joinMac)) throw unauthorized();
    await this.#restoreCredential(node, hash);
    return { node, hash };
  }

  /**
   * True if this host joined after the restored backup, so that the store lacks its credential. Only until an operator
   * confirms the restore. Afterwards a missing Secret means that the host was revoked.
   */
  #isForgotten(node: string, hash: string, joinMac: string | undefined): boolean {
    const { restore, signer } = this.#deps;
    return (
      joinMac !== undefined && !!restore?.unconfirmed() && isJoinedAfterBackup(signer, node, hash, joinMac)
    );
  }

  /** Stores a credential that the restore has lost. It replaces an older credential of this name. */
  async #restoreCredential(node: string, hash: string): Promise<void> {
    const { credentials } = this.#deps;
    if (isSameHash((await credentials.register(node, { hash }))?.hash, hash)) return;
    await credentials.replace(node, { hash });
  }
}
