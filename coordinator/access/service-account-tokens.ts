/**
 * ServiceAccount tokens: JWTs that are bound to the account, and optionally to a Pod, a Secret or a Node. A token
 * becomes invalid when a bound object is deleted (`pkg/serviceaccount/claims.go`).
 */
import { errors, exportJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import { orUndefined } from '../../shared/kube/objects/api-status.js';
import type { Secret } from '../../shared/kube/objects/config-types.js';
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import { serviceAccountUser } from '../informers/informer-indexes.js';
import { nodeKind, podKind, secretKind, serviceAccountKind } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import type { Registry } from '../registry/registry.js';
import type { SigningKey } from './token-signing-keys.js';
import { serviceAccountGroups, withAuthenticated } from './user-groups.js';

/** Upstream's default issuer. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** The `alg` of all tokens. */
export const SIGNING_ALGORITHM = 'ES256';
/** A JWT has header, claims and signature. */
const JWT_PARTS = 3;
/**
 * Tokens stay valid for this long after the deletion timestamp, like upstream: a terminating Pod may still need them.
 */
const DELETION_LEEWAY_MS = 60_000;
/** Tolerance for clock differences at both ends of the validity, like upstream (go-jose's DefaultLeeway). */
const LEEWAY_SECONDS = 60;
/** Size of the cache of verified tokens. */
const MAX_REMEMBERED = 10_000;

/** The content of a new token. */
export interface TokenIssueRequest {
  serviceAccount: { namespace: string; name: string; uid: string };
  audiences: readonly string[];
  expirationSeconds: number;
  /** The Node of the Pod is included as well. */
  pod?: NamedUid;
  secret?: NamedUid;
  node?: NamedUid;
}

/** A reference in a token. */
interface NamedUid {
  name: string;
  uid: string;
}

interface IssuedToken {
  token: string;
  /** Ms since the epoch. */
  expiresAt: number;
  /** The public id of the token. */
  id: string;
}

/** A valid token. */
interface VerifiedToken {
  user: UserInfo;
  /** The requested audiences that the token is for. */
  audiences: string[];
}

interface AccountClaims {
  namespace: string;
  serviceaccount: NamedUid;
  pod?: NamedUid;
  secret?: NamedUid;
  node?: NamedUid;
}

interface TokenDeps {
  keys: readonly [SigningKey, ...SigningKey[]];
  registry: Pick<Registry, 'get'>;
  clock: Clock;
  random: Pick<Random, 'uuid'>;
}

export class ServiceAccountTokens {
  readonly #deps: TokenDeps;
  readonly #remembered = new Map<string, JWTPayload>();

  constructor(deps: TokenDeps) {
    this.#deps = deps;
  }

  /** Signs a token. The caller has already authorized the request. */
  async issue(request: TokenIssueRequest): Promise<IssuedToken> {
    const { serviceAccount, audiences, expirationSeconds, pod, secret, node } = request;
    const { namespace, name, uid } = serviceAccount;
    const now = Math.floor(this.#deps.clock.now() / 1000);
    const expires = now + expirationSeconds;
    const id = this.#deps.random.uuid();
    const bound = { ...(pod ? { pod } : {}), ...(secret ? { secret } : {}), ...(node ? { node } : {}) };
    const claims: AccountClaims = { namespace, serviceaccount: { name, uid }, ...bound };
    const jwt = this.#unsigned(claims, { id, audiences, now }).setExpirationTime(expires);
    return { token: await this.#sign(jwt), expiresAt: expires * 1000, id };
  }

  /**
   * Signs the token of a Secret of type `kubernetes.io/service-account-token`. It does not expire, but it is valid only
   * while the Secret contains it.
   */
  issueForSecret({
    serviceAccount,
    secret,
  }: Required<Pick<TokenIssueRequest, 'serviceAccount' | 'secret'>>): Promise<string> {
    const { namespace, name, uid } = serviceAccount;
    const now = Math.floor(this.#deps.clock.now() / 1000);
    const id = this.#deps.random.uuid();
    const claims: AccountClaims = { namespace, serviceaccount: { name, uid }, secret };
    return this.#sign(this.#unsigned(claims, { id, audiences: [ISSUER], now }));
  }

  #unsigned(
    claims: AccountClaims,
    { id, audiences, now }: { id: string; audiences: readonly string[]; now: number },
  ): SignJWT {
    const { namespace, serviceaccount } = claims;
    return new SignJWT({ 'kubernetes.io': claims })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: this.#deps.keys[0].id })
      .setIssuer(ISSUER)
      .setSubject(serviceAccountUser(namespace, serviceaccount.name))
      .setAudience([...audiences])
      .setJti(id)
      .setIssuedAt(now)
      .setNotBefore(now);
  }

  #sign(jwt: SignJWT): Promise<string> {
    return jwt.sign(this.#deps.keys[0].privateKey);
  }

  /**
   * Returns the user of a token for one of the audiences, or undefined for a token of another issuer. Throws
   * `TokenRefused` if the token is no longer valid.
   */
  async verify(token: string, audiences: readonly string[] = [ISSUER]): Promise<VerifiedToken | undefined> {
    const payload = await this.#payloadOf(token);
    if (!payload) return undefined;
    const claims = claimsOf(payload);
    const matching = audienceList(payload).filter((audience) => audiences.includes(audience));
    if (matching.length === 0) throw new TokenRefused('the token is for other audiences');
    await this.#checkBound(claims);
    if (payload.exp === undefined) await this.#checkStored(claims, token);
    return { user: userOf(claims, payload.jti), audiences: matching };
  }

  /** Returns the public keys (RFC 7517), for programs that verify tokens themselves. */
  async publicKeys(): Promise<{ keys: object[] }> {
    const keys = this.#deps.keys.map(async ({ id, publicKey }) => ({
      ...(await exportJWK(publicKey)),
      kid: id,
      alg: SIGNING_ALGORITHM,
      use: 'sig',
    }));
    return { keys: await Promise.all(keys) };
  }

  /** Verifies signature and times. Valid tokens are cached until they expire. */
  async #payloadOf(token: string): Promise<JWTPayload | undefined> {
    const now = this.#deps.clock.now();
    const remembered = this.#remembered.get(token);
    if (remembered && isInTime(remembered, now)) return remembered;
    this.#remembered.delete(token);
    const payload = await this.#verified(token, now);
    if (!payload) return undefined;
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(token, payload);
    return payload;
  }

  async #verified(token: string, now: number): Promise<JWTPayload | undefined> {
    // Skip the administrator's token, which is not a JWT. The library's exception would cost more than a small request.
    if (token.split('.').length !== JWT_PARTS) return undefined;
    const keyOf = ({ kid }: { kid?: string }) => {
      const key = this.#deps.keys.find(({ id }) => id === kid);
      if (!key) throw new errors.JWKSNoMatchingKey();
      return key.publicKey;
    };
    try {
      const options = {
        issuer: ISSUER,
        algorithms: [SIGNING_ALGORITHM],
        currentDate: new Date(now),
        clockTolerance: LEEWAY_SECONDS,
      };
      return (await jwtVerify(token, keyOf, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw new TokenRefused('the token has expired');
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') {
        throw new TokenRefused('the token is not valid yet');
      }
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async #checkBound(claims: AccountClaims): Promise<void> {
    const { namespace, serviceaccount, pod, secret, node } = claims;
    await this.#mustLive(serviceAccountKind as Kind, 'service account', { namespace }, serviceaccount);
    if (pod) await this.#mustLive(podKind as Kind, 'pod', { namespace }, pod);
    if (secret) await this.#mustLive(secretKind as Kind, 'secret', { namespace }, secret);
    // The token of a Pod contains its Node but is not bound to it.
    if (node && !pod) await this.#mustLive(nodeKind as Kind, 'node', {}, node);
  }

  /** A token without an end is revoked by removing it from its Secret (`pkg/serviceaccount/legacy.go`). */
  async #checkStored({ namespace, secret }: AccountClaims, token: string): Promise<void> {
    const found = secret && (await this.#find(secretKind as Kind, { namespace, name: secret.name }));
    const stored = (found as Secret | undefined)?.data?.token ?? '';
    if (stored !== Buffer.from(token).toString('base64')) {
      throw new TokenRefused('the token is not in its secret');
    }
  }

  async #mustLive(
    kind: Kind,
    word: string,
    where: Pick<ObjectRef, 'namespace'>,
    { name, uid }: NamedUid,
  ): Promise<void> {
    const object = await this.#find(kind, { ...where, name });
    const deletedAt = Date.parse(object?.metadata.deletionTimestamp ?? '');
    const isOver = deletedAt + DELETION_LEEWAY_MS < this.#deps.clock.now();
    if (object?.metadata.uid !== uid || isOver) {
      throw new TokenRefused(`the ${word} of the token has been deleted`);
    }
  }

  async #find(kind: Kind, ref: ObjectRef): Promise<KubeObject | undefined> {
    return orUndefined(async () => (await this.#deps.registry.get(kind, ref)).object());
  }
}

/** A ServiceAccount token that is no longer valid. `message` is the reason. */
export class TokenRefused extends Error {}

/** Check again, because the clock may have been changed since the verification. */
function isInTime({ nbf = 0, exp = Number.POSITIVE_INFINITY }: JWTPayload, now: number): boolean {
  return (nbf - LEEWAY_SECONDS) * 1000 <= now && now < (exp + LEEWAY_SECONDS) * 1000;
}

function claimsOf(payload: JWTPayload): AccountClaims {
  // Only this coordinator signs with these keys, so the form is known.
  return payload['kubernetes.io'] as AccountClaims;
}

function audienceList({ aud = [] }: JWTPayload): string[] {
  return typeof aud === 'string' ? [aud] : aud;
}

function userOf({ namespace, serviceaccount, pod, node }: AccountClaims, id: string | undefined): UserInfo {
  const extra = {
    ...(id ? { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] } : {}),
    ...(node ? { 'authentication.kubernetes.io/node-name': [node.name] } : {}),
    ...(node?.uid ? { 'authentication.kubernetes.io/node-uid': [node.uid] } : {}),
    ...(pod ? { 'authentication.kubernetes.io/pod-name': [pod.name] } : {}),
    ...(pod ? { 'authentication.kubernetes.io/pod-uid': [pod.uid] } : {}),
  };
  return {
    username: serviceAccountUser(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: withAuthenticated(serviceAccountGroups(namespace)),
    extra,
  };
}
