/**
 * Who may join and who is who. Join tokens and node credentials are Secrets in kube-system; of both only a SHA-256 hash
 * is stored (256 and 82 random bits need no slow hash). Deleting a Secret revokes: a token at once, a credential from
 * the node's next connection on.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../shared/kube/config.js';
import { ApiError, badRequest } from '../../shared/kube/status.js';
import type { JoinAnswer, JoinRequest } from '../../shared/link/messages.js';
import { ProtocolError, record, type Shape, text } from '../../shared/link/shape.js';
import type { Clock } from '../../shared/process/clock.js';
import { secretKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';
import { base64, ENROLMENT_NAMESPACE, sha256, TOKEN_SECRET_PREFIX, TOKEN_SECRET_TYPE } from './join-token.js';

export const CREDENTIAL_SECRET_TYPE = 'everynode.dev/node-credential';
const CREDENTIAL_SECRET_PREFIX = 'node-credential-';
const TOKEN_PATTERN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** A POST /join as it came: the whole `Authorization` header and decoded JSON. */
export interface JoinCall {
  authorization?: string;
  body: unknown;
}

const joinRequest: Shape<JoinRequest> = record<JoinRequest>({ node: text(253), credentialHash: text(64) });

export class Enrolment {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #clusterUID: string;

  constructor(registry: Registry, clock: Clock, clusterUID: string) {
    this.#registry = registry;
    this.#clock = clock;
    this.#clusterUID = clusterUID;
  }

  /**
   * Registers a credential for a name that has none. The same call again answers the same.
   * Throws ApiError: 400, 401 for a wrong or expired token, 409 for a name that is taken, 422 for an impossible one.
   */
  async join(call: JoinCall): Promise<JoinAnswer> {
    await this.#checkToken(bearerOf(call.authorization));
    const { node, credentialHash } = parseJoin(call.body);
    const stored = (await this.#storedHash(node)) ?? (await this.#register(node, credentialHash));
    if (isSame(stored, credentialHash)) return { node, clusterUID: this.#clusterUID };
    const remedy = `kubectl -n ${ENROLMENT_NAMESPACE} delete secret ${CREDENTIAL_SECRET_PREFIX}${node}`;
    throw new ApiError(
      'AlreadyExists',
      `node "${node}" has joined already; to let another host take its name: ${remedy}`,
    );
  }

  /** The node that this `Authorization` header proves to be. Throws ApiError 401. */
  async authenticate(authorization: string | undefined): Promise<string> {
    const credential = bearerOf(authorization);
    const node = /^[\w-]{43}\.(.{1,253})$/.exec(credential)?.[1];
    const stored = node === undefined ? undefined : await this.#storedHash(node);
    if (node === undefined || stored === undefined || !isSame(stored, sha256(credential)))
      throw unauthorized();
    return node;
  }

  async #checkToken(token: string): Promise<void> {
    const [, id, secret] = TOKEN_PATTERN.exec(token) ?? [];
    if (!id || !secret) throw unauthorized();
    const stored = await this.#secret(`${TOKEN_SECRET_PREFIX}${id}`);
    if (stored?.type !== TOKEN_SECRET_TYPE || !isSame(tokenHash(stored), sha256(secret)))
      throw unauthorized();
    const expiration = field(stored, 'expiration');
    // An expiration that is no time at all is as good as past.
    if (expiration !== undefined && !(Date.parse(expiration) > this.#clock.now())) throw unauthorized();
  }

  /** Answers the hash that is stored then: another's, when that one came first. */
  async #register(node: string, credentialHash: string): Promise<string | undefined> {
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
      await this.#registry.create(secretKind, ENROLMENT_NAMESPACE, secret);
      return credentialHash;
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      return this.#storedHash(node);
    }
  }

  async #storedHash(node: string): Promise<string | undefined> {
    const secret = await this.#secret(`${CREDENTIAL_SECRET_PREFIX}${node}`);
    return secret && field(secret, 'hash');
  }

  async #secret(name: string): Promise<Secret | undefined> {
    try {
      return (await this.#registry.get(secretKind, { namespace: ENROLMENT_NAMESPACE, name })).object();
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }
}

/** Upstream's own bootstrap tokens hold their secret in plain; one made by hand works as well. */
function tokenHash(secret: Secret): string | undefined {
  const plain = field(secret, 'token-secret');
  return field(secret, 'token-hash') ?? (plain === undefined ? undefined : sha256(plain));
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
