/**
 * What each node's agent proves itself by: the hash of its key. Secrets in kube-system; what takes the hash out of one,
 * or deletes it, revokes at once. A key that is not here is nobody's, whatever certificate it has; one that was revoked
 * is not let in again under this name.
 */
import { timingSafeEqual } from 'node:crypto';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
  revokedKeyHashes,
} from '../../../shared/kube/nodes/node-credential-secret.js';
import { ApiError, isNotFound, orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { CREDENTIAL_SECRET_TYPE } from '../../kinds/config/secret-kind.js';
import { secretKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { encodeRights, type JoinRights, NO_RIGHTS, readRights } from './join-rights.js';
import { base64 } from './new-join-token.js';

/** What a node joined with. */
interface NodeCredential {
  /** SHA-256 in lower-case hex of its public key (SubjectPublicKeyInfo DER). */
  hash: string;
  /** End of the newest certificate for the key, ms since the epoch; absent when there is none. */
  notAfterMs?: number;
  /** What came with the join; those that are stored stay when absent. */
  rights?: JoinRights;
}

/** As it is stored. */
export interface StoredCredential extends NodeCredential {
  revision: number;
  rights: JoinRights;
}

export class NodeCredentials {
  readonly #registry: Pick<Registry, 'get' | 'create' | 'modify'>;

  constructor(registry: Pick<Registry, 'get' | 'create' | 'modify'>) {
    this.#registry = registry;
  }

  /** That of a node; undefined when it has none. */
  async get(node: string): Promise<StoredCredential | undefined> {
    const secret = await readSecret(this.#registry, credentialSecretName(node));
    return secret && credentialIn(secret);
  }

  /**
   * Stores the credential of a node that has none. Answers the one that is stored then: another's, when that came first.
   * Throws ApiError 403 for one that was revoked.
   */
  async register(node: string, credential: NodeCredential): Promise<StoredCredential | undefined> {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: credentialSecretName(node), namespace: ENROLMENT_NAMESPACE },
      type: CREDENTIAL_SECRET_TYPE,
      data: dataOf(credential),
    };
    try {
      const { revision } = await this.#registry.create(secretKind, ENROLMENT_NAMESPACE, secret);
      return { rights: NO_RIGHTS, ...credential, revision };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      await this.#fill(node, credential);
      return this.get(node);
    }
  }

  /** True when this credential was revoked for the node. */
  async isRevoked(node: string, hash: string): Promise<boolean> {
    const secret = await readSecret(this.#registry, credentialSecretName(node));
    return secret !== undefined && revokedKeyHashes(secret.data).includes(hash);
  }

  /** Of a revoked node the Secret is there and names no credential. */
  async #fill(node: string, credential: NodeCredential): Promise<void> {
    await this.#modify(node, (secret) => {
      if (credentialIn(secret)) return false;
      if (revokedKeyHashes(secret.data).includes(credential.hash)) throw keyRevokedError(node);
      secret.data = { ...secret.data, ...dataOf(credential) };
      return undefined;
    });
  }

  /** False when there is no such Secret. */
  async #modify(node: string, change: (secret: Secret) => undefined | false): Promise<boolean> {
    try {
      const name = credentialSecretName(node);
      await this.#registry.modify(secretKind, { namespace: ENROLMENT_NAMESPACE, name }, change);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Puts a credential in the place of the one with the hash `expected`, or of any when absent. False when there is none, or another. */
  async replace(node: string, credential: NodeCredential, expected?: string): Promise<boolean> {
    let isReplaced = false;
    await this.#modify(node, (secret) => {
      isReplaced = expected === undefined || isSameHash(credentialIn(secret)?.hash, expected);
      if (!isReplaced) return false;
      if (revokedKeyHashes(secret.data).includes(credential.hash)) throw keyRevokedError(node);
      const { key: _key, 'not-after': _end, ...others } = secret.data ?? {};
      secret.data = { ...others, ...dataOf(credential) };
      return undefined;
    });
    return isReplaced;
  }
}

/** For a host that comes with a key that was revoked. */
export function keyRevokedError(node: string): ApiError {
  return new ApiError(
    'Forbidden',
    `the key of this host was revoked as node "${node}": the host must make another one, by joining with an empty data directory`,
  );
}

/** How a person frees the name of a node. */
export function removalCommand(node: string): string {
  return `everynode node revoke ${node} && kubectl delete node ${node}`;
}

/** Compares two SHA-256 in hex without telling by its time where they differ. */
export function isSameHash(stored: string | undefined, hash: string): boolean {
  if (stored === undefined || stored.length !== hash.length) return false;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(hash));
}

/** A Secret of the enrolment; undefined when there is none of that name. */
export async function readSecret(registry: Pick<Registry, 'get'>, name: string): Promise<Secret | undefined> {
  return orUndefined(async () =>
    (await registry.get(secretKind, { namespace: ENROLMENT_NAMESPACE, name })).object(),
  );
}

/** One value of a Secret as text. */
export function secretField(secret: Secret, name: string): string | undefined {
  const value = secret.data?.[name];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

function credentialIn(secret: Secret): StoredCredential | undefined {
  const hash = secretField(secret, 'key');
  if (hash === undefined) return undefined;
  const notAfterMs = Date.parse(secretField(secret, 'not-after') ?? '');
  return {
    hash,
    revision: Number(secret.metadata.resourceVersion ?? 0),
    rights: readRights(secret),
    ...(Number.isNaN(notAfterMs) ? {} : { notAfterMs }),
  };
}

function dataOf({ hash, notAfterMs, rights }: NodeCredential): Record<string, string> {
  return {
    key: base64(hash),
    ...(rights ? encodeRights(rights) : {}),
    ...(notAfterMs === undefined ? {} : { 'not-after': base64(toTimestamp(notAfterMs)) }),
  };
}
