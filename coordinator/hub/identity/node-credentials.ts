/**
 * The registered key hash of each node, stored in Secrets in kube-system. Deleting the Secret, or removing the hash
 * from it, revokes the node at once. An unregistered key is refused even with a valid certificate. A revoked key cannot
 * be registered again under the same name.
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
import type { Informer } from '../../informers/informer.js';
import { CREDENTIAL_SECRET_TYPE } from '../../kinds/config/secret-kind.js';
import { secretKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { encodeRights, type JoinRights, NO_RIGHTS, readRights } from './join-rights.js';
import { base64 } from './new-join-token.js';

interface NodeCredential {
  /** SHA-256 in lower-case hex of its public key (SubjectPublicKeyInfo DER). */
  hash: string;
  /** End of the newest certificate for the key, in ms since the epoch. Absent if there is none. */
  notAfterMs?: number;
  /** Rights granted by the join. If absent, stored rights stay. */
  rights?: JoinRights;
}

export interface StoredCredential extends NodeCredential {
  revision: number;
  rights: JoinRights;
}

export class NodeCredentials {
  readonly #registry: Pick<Registry, 'get' | 'create' | 'modify'>;

  constructor(registry: Pick<Registry, 'get' | 'create' | 'modify'>) {
    this.#registry = registry;
  }

  /** Returns the credential of a node; undefined if it has none. */
  async get(node: string): Promise<StoredCredential | undefined> {
    const secret = await readSecret(this.#registry, credentialSecretName(node));
    return secret && credentialIn(secret);
  }

  /**
   * Stores the credential of a node without one. Returns the stored credential, which is another host's if that was
   * first. Throws ApiError 403 for a revoked key.
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

  /** True if this key was revoked for the node. */
  async isRevoked(node: string, hash: string): Promise<boolean> {
    const secret = await readSecret(this.#registry, credentialSecretName(node));
    return secret !== undefined && revokedKeyHashes(secret.data).includes(hash);
  }

  /** Writes into the existing Secret of a revoked node, which contains no credential. */
  async #fill(node: string, credential: NodeCredential): Promise<void> {
    await this.#modify(node, (secret) => {
      if (credentialIn(secret)) return false;
      if (revokedKeyHashes(secret.data).includes(credential.hash)) throw keyRevokedError(node);
      secret.data = { ...secret.data, ...dataOf(credential) };
      return undefined;
    });
  }

  /** Returns false if the Secret does not exist. */
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

  /** Replaces the credential with the hash `expected`, or any if absent. Returns false if none matches. */
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

/** The error for a host with a revoked key. */
export function keyRevokedError(node: string): ApiError {
  return new ApiError(
    'Forbidden',
    `the key of this host was revoked as node "${node}": join again with an empty data directory to create a new key`,
  );
}

/** Returns the commands with which an operator frees the name of a node. */
export function removalCommand(node: string): string {
  return `everynode node revoke ${node} && kubectl delete node ${node}`;
}

/** Compares two SHA-256 hashes in hex in constant time. */
export function isSameHash(stored: string | undefined, hash: string): boolean {
  if (stored === undefined || stored.length !== hash.length) return false;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(hash));
}

/** Returns the hash of a node's key in the cache, which may be older than the store; undefined if it has none. */
export function cachedKeyHash(secrets: Pick<Informer<Secret>, 'get'>, node: string): string | undefined {
  const secret = secrets.get({ namespace: ENROLMENT_NAMESPACE, name: credentialSecretName(node) });
  return secret && secretField(secret, 'key');
}

/** Reads a Secret in the namespace of the enrolment; undefined if it does not exist. */
export async function readSecret(registry: Pick<Registry, 'get'>, name: string): Promise<Secret | undefined> {
  return orUndefined(async () =>
    (await registry.get(secretKind, { namespace: ENROLMENT_NAMESPACE, name })).object(),
  );
}

/** Returns one value of a Secret as text. */
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
