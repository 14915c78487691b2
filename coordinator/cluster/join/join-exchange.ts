/**
 * How a joining coordinator proves its token and receives the fleet's keys, inside of TLS. The token's secret is never
 * sent. The keys are encrypted for an ephemeral key of this one join, so neither a proxy that terminates TLS nor a
 * token that leaks later reveals them. Pure but for the ephemeral keys.
 */
import {
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { ClusterMember, MemberStatus } from '../cluster-member.js';
import { openValue, SealError, sealValue } from '../keys/sealed-value.js';
import { isMemberId, isMemberServer } from '../member-file.js';
import { MAX_SKEW_MS } from '../snapshot/snapshot-proof.js';

const KEY_BYTES = 32;

/** The joining coordinator, as far as the leader must know it. */
type JoiningMember = Pick<ClusterMember, 'id' | 'name' | 'server'> &
  Pick<MemberStatus, 'version' | 'logFormat' | 'clockMs'>;

/** Body of `POST /coordinators/join`. */
export interface CoordinatorJoinRequest {
  readonly tokenId: string;
  /** The fleet that the caller's etcd belongs to. */
  readonly clusterUID: string;
  readonly member: JoiningMember;
  /** X25519, SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** HMAC-SHA-256 under the token over all other fields, base64. */
  readonly proof: string;
}

/** The answer. */
export interface CoordinatorJoinAnswer {
  readonly publicKey: string;
  /** The packed keys, sealed, base64. */
  readonly keys: string;
}

/** Returns the key that the coordinator stores instead of the token's secret. */
export function tokenKeyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'everynode coordinator token', KEY_BYTES));
}

interface JoinAttempt {
  readonly request: CoordinatorJoinRequest;
  /** Returns the packed keys. Throws SealError if the answer was not made with the token. */
  open(answer: unknown): Buffer;
}

/** Begins a join with the token `ID.SECRET`. */
export function beginJoin(
  token: { readonly id: string; readonly secret: string },
  clusterUID: string,
  member: JoiningMember,
): JoinAttempt {
  const key = tokenKeyOf(token.secret);
  const own = generateKeyPairSync('x25519');
  const unproved = { tokenId: token.id, clusterUID, member, publicKey: encoded(own.publicKey) };
  const request = { ...unproved, proof: proofOf(key, unproved) };
  return {
    request,
    open: (answer) => {
      const { publicKey, keys } = isRecord(answer) ? answer : {};
      if (typeof publicKey !== 'string' || typeof keys !== 'string') {
        throw new SealError('the answer contains no keys');
      }
      const names = [request.publicKey, publicKey] as const;
      const shared = sharedKey(key, own.privateKey, publicKey, names);
      if (!shared) throw new SealError('the answer contains no valid public key');
      return openValue(shared, names.join('.'), Buffer.from(keys, 'base64'));
    },
  };
}

/** Encrypts the packed keys for the caller, or returns undefined if the request was not made with this token. */
export function answerJoin(
  tokenKey: Buffer,
  request: CoordinatorJoinRequest,
  packedKeys: Uint8Array,
): CoordinatorJoinAnswer | undefined {
  const expected = Buffer.from(proofOf(tokenKey, request));
  const given = Buffer.from(request.proof);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
  const own = generateKeyPairSync('x25519');
  const names = [request.publicKey, encoded(own.publicKey)] as const;
  const shared = sharedKey(tokenKey, own.privateKey, request.publicKey, names);
  if (!shared) return undefined;
  return { publicKey: names[1], keys: sealValue(shared, names.join('.'), packedKeys).toString('base64') };
}

/** The leader, compared with a joining coordinator. */
interface Admitting {
  readonly version: string;
  /** Format of the log records that it writes. */
  readonly logFormat: number;
  /** Its wall clock, ms. */
  readonly nowMs: number;
}

/** Returns why this coordinator could not follow the leader, as a sentence without its period. Pure. */
export function joinObstacle(
  { version, logFormat, clockMs }: JoiningMember,
  leader: Admitting,
): string | undefined {
  if (logFormat < leader.logFormat)
    return `it has version ${version} and reads format ${logFormat} of the log, but the leader has version ${leader.version} and writes format ${leader.logFormat}: upgrade it first`;
  const skewMs = clockMs - leader.nowMs;
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return undefined;
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  return `its clock is ${minutes} minutes ${direction} the leader's, and 5 are allowed: set the clock, for example with chrony`;
}

/** Returns the request in a decoded body, or undefined for any other body. */
export function readJoinRequest(body: unknown): CoordinatorJoinRequest | undefined {
  if (!isRecord(body) || !isRecord(body.member)) return undefined;
  const { tokenId, clusterUID, publicKey, proof } = body;
  const { id, name, server, version, logFormat, clockMs } = body.member;
  if (!isShort(tokenId) || !isShort(clusterUID) || !isShort(publicKey) || !isShort(proof)) return undefined;
  if (!isMemberId(id) || !isShort(name) || !isMemberServer(server)) return undefined;
  if (!isShort(version) || !isCount(logFormat) || !isCount(clockMs)) return undefined;
  return { tokenId, clusterUID, publicKey, proof, member: { id, name, server, version, logFormat, clockMs } };
}

function proofOf(key: Buffer, request: Omit<CoordinatorJoinRequest, 'proof'>): string {
  const { tokenId, clusterUID, publicKey, member } = request;
  const text = JSON.stringify([
    'join',
    tokenId,
    clusterUID,
    publicKey,
    member.id,
    member.name,
    member.server,
    member.version,
    member.logFormat,
    member.clockMs,
  ]);
  return createHmac('sha256', key).update(text).digest('base64');
}

/** Returns undefined for a key that is not a valid X25519 key of another party. */
function sharedKey(
  tokenKey: Buffer,
  privateKey: KeyObject,
  peer: string,
  names: readonly [string, string],
): Buffer | undefined {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(peer, 'base64'), format: 'der', type: 'spki' });
    const secret = diffieHellman({ privateKey, publicKey });
    return Buffer.from(hkdfSync('sha256', secret, tokenKey, `everynode keys ${names.join('.')}`, KEY_BYTES));
  } catch {
    // OpenSSL throws for malformed keys, for other kinds of keys, and for points of low order.
    return undefined;
  }
}

function encoded(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 253;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
