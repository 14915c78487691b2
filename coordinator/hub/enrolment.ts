/**
 * Who may join and who is who. Join tokens and node credentials are Secrets in kube-system; of both only a SHA-256 hash
 * is stored (256 and 82 random bits need no slow hash). Deleting a Secret revokes at once: the hub ends the session of a
 * credential that is gone.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../shared/kube/config.js';
import type { ObjectMeta } from '../../shared/kube/meta.js';
import { ApiError, badRequest } from '../../shared/kube/status.js';
import type { JoinAnswer, JoinRequest, Seal } from '../../shared/link/messages.js';
import { integer, ProtocolError, record, type Shape, text } from '../../shared/link/shape.js';
import type { Clock } from '../../shared/process/clock.js';
import { secretKind } from '../kinds/index.js';
import { CREDENTIAL_SECRET_TYPE } from '../kinds/secret.js';
import type { Registry } from '../registry/registry.js';
import { base64, ENROLMENT_NAMESPACE, sha256, TOKEN_SECRET_PREFIX, TOKEN_SECRET_TYPE } from './join-token.js';
import type { PendingRestore } from './pending-restore.js';
import type { Sealer } from './seal.js';

const CREDENTIAL_SECRET_PREFIX = 'node-credential-';
const TOKEN_PATTERN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** A POST /join as it came: the whole `Authorization` header and decoded JSON. */
export interface JoinCall {
  authorization?: string;
  body: unknown;
}

const joinRequest: Shape<JoinRequest> = record<JoinRequest>({ node: text(253), credentialHash: text(64) });

export interface EnrolmentParts {
  registry: Registry;
  clock: Clock;
  clusterUID: string;
  sealer: Sealer;
  restore?: PendingRestore | undefined;
}

/** A credential's hash as the store has it. */
interface StoredHash {
  hash: string;
  revision: number;
}

export class Enrolment {
  readonly #parts: EnrolmentParts;

  constructor(parts: EnrolmentParts) {
    this.#parts = parts;
  }

  /**
   * Registers a credential for a name that has none. The same call again answers the same.
   * Throws ApiError: 400, 401 for a wrong or expired token, 409 for a name that is taken, 422 for an impossible one.
   */
  async join(call: JoinCall): Promise<JoinAnswer> {
    await this.#checkToken(bearerOf(call.authorization));
    const { node, credentialHash } = parseJoin(call.body);
    const stored = (await this.#storedHash(node)) ?? (await this.#register(node, credentialHash));
    if (stored && isSame(stored.hash, credentialHash)) return this.#answer(node, stored);
    const remedy = `kubectl -n ${ENROLMENT_NAMESPACE} delete secret ${CREDENTIAL_SECRET_PREFIX}${node}`;
    throw new ApiError(
      'AlreadyExists',
      `node "${node}" has joined already; to let another host take its name: ${remedy}`,
    );
  }

  /** The node that this `Authorization` header proves to be; `seal` is that of its join. Throws ApiError 401. */
  async authenticate(authorization: string | undefined, seal?: string): Promise<string> {
    const credential = bearerOf(authorization);
    const node = /^[\w-]{43}\.(.{1,253})$/.exec(credential)?.[1];
    const stored = node === undefined ? undefined : await this.#storedHash(node);
    if (node === undefined) throw unauthorized();
    const hash = sha256(credential);
    if (isSame(stored?.hash, hash)) return node;
    if (!this.#hasJoinedSince(node, hash, seal)) throw unauthorized();
    await this.#takeBack(node, hash);
    return node;
  }

  #answer(node: string, { hash, revision }: StoredHash): JoinAnswer {
    const { clusterUID, sealer } = this.#parts;
    return { node, clusterUID, seal: JSON.stringify(sealer.seal(node, sealable(hash), revision)) };
  }

  /** After a restore: true when this host joined after the backup, so that the store cannot know it. Only until a person confirms: afterwards a missing Secret means revoked. */
  #hasJoinedSince(node: string, hash: string, sealText: string | undefined): boolean {
    const { restore, sealer } = this.#parts;
    if (sealText === undefined || !restore?.unconfirmed()) return false;
    const seal = parseSeal(sealText);
    return seal !== undefined && sealer.isGivenSince(node, sealable(hash), seal);
  }

  /** Stores a credential that the store has lost, in place of an older one of this name. */
  async #takeBack(node: string, hash: string): Promise<void> {
    const name = `${CREDENTIAL_SECRET_PREFIX}${node}`;
    if ((await this.#register(node, hash))?.hash === hash) return;
    await this.#parts.registry.modify(secretKind, { namespace: ENROLMENT_NAMESPACE, name }, (secret) => {
      secret.data = { ...secret.data, hash: base64(hash) };
      return undefined;
    });
  }

  async #checkToken(token: string): Promise<void> {
    const [, id, secret] = TOKEN_PATTERN.exec(token) ?? [];
    if (!id || !secret) throw unauthorized();
    const stored = await this.#secret(`${TOKEN_SECRET_PREFIX}${id}`);
    if (stored?.type !== TOKEN_SECRET_TYPE || !isSame(tokenHash(stored), sha256(secret)))
      throw unauthorized();
    const expiration = field(stored, 'expiration');
    // An expiration that is no time at all is as good as past.
    if (expiration !== undefined && !(Date.parse(expiration) > this.#parts.clock.now())) throw unauthorized();
  }

  /** Answers the hash that is stored then: another's, when that one came first. */
  async #register(node: string, credentialHash: string): Promise<StoredHash | undefined> {
    const metadata = { name: `${CREDENTIAL_SECRET_PREFIX}${node}`, namespace: ENROLMENT_NAMESPACE };
    const data = { hash: base64(credentialHash) };
    try {
      const secret: Secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: CREDENTIAL_SECRET_TYPE,
        data,
      };
      const { revision } = await this.#parts.registry.create(secretKind, ENROLMENT_NAMESPACE, secret);
      return { hash: credentialHash, revision };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      return this.#storedHash(node);
    }
  }

  async #storedHash(node: string): Promise<StoredHash | undefined> {
    const secret = await this.#secret(`${CREDENTIAL_SECRET_PREFIX}${node}`);
    const hash = secret && field(secret, 'hash');
    return hash === undefined ? undefined : { hash, revision: Number(secret?.metadata.resourceVersion ?? 0) };
  }

  async #secret(name: string): Promise<Secret | undefined> {
    try {
      return (await this.#parts.registry.get(secretKind, { namespace: ENROLMENT_NAMESPACE, name })).object();
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }
}

/** The node whose credential this Secret is; undefined for any other Secret. */
export function nodeOfCredential({
  namespace,
  name,
}: Pick<ObjectMeta, 'namespace' | 'name'>): string | undefined {
  const isCredential = namespace === ENROLMENT_NAMESPACE && name.startsWith(CREDENTIAL_SECRET_PREFIX);
  return isCredential ? name.slice(CREDENTIAL_SECRET_PREFIX.length) : undefined;
}

/** Upstream's own bootstrap tokens hold their secret in plain; one made by hand works as well. */
function tokenHash(secret: Secret): string | undefined {
  const plain = field(secret, 'token-secret');
  return field(secret, 'token-hash') ?? (plain === undefined ? undefined : sha256(plain));
}

/** A credential's hash in the form that seals are made over; no object has such a uid. */
function sealable(hash: string): { uid: string; object: Buffer } {
  return { uid: 'node-credential', object: Buffer.from(hash) };
}

const joinSeal: Shape<Seal> = record<Seal>({ era: text(128), revision: integer(0), mac: text(128) });

function parseSeal(sealText: string): Seal | undefined {
  try {
    return joinSeal(JSON.parse(sealText), 'seal');
  } catch (error) {
    if (error instanceof ProtocolError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parseJoin(body: unknown): JoinRequest {
  try {
    const parsed = joinRequest(body, 'join');
    if (/^[0-9a-f]{64}$/.test(parsed.credentialHash)) return parsed;
    throw badRequest('credentialHash is not a SHA-256 in lower-case hex');
  } catch (error) {
    if (error instanceof ProtocolError) throw badRequest(error.message);
    throw error;
  }
}

function unauthorized(): ApiError {
  return new ApiError('Unauthorized', 'Unauthorized');
}

function bearerOf(authorization: string | undefined): string {
  const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (!bearer) throw unauthorized();
  return bearer;
}

/** Compares two SHA-256 in hex without telling by its time where they differ. */
function isSame(stored: string | undefined, hash: string): boolean {
  if (stored === undefined || stored.length !== hash.length) return false;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(hash));
}

function field(secret: Secret, name: string): string | undefined {
  const value = secret.data?.[name];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
