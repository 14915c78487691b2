/**
 * Sessions of the web console. A cookie that scripts cannot read replaces the credential of the sign-in. Sessions are
 * stored in memory only: no credential is written to disk, and a restart of the coordinator ends them.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { limitKeyOf } from '../../access/user-groups.js';
import { SessionUsage } from './session-usage.js';

/** Browsers accept a cookie with the prefix `__Host-` only over TLS and send it only to this host. */
const COOKIE = '__Host-everynode-session';
/** A script of another site can set this header only after a CORS preflight, which this server never allows. */
const REQUESTED_BY = 'x-everynode-console';
/** A session without requests ends after this time. */
const IDLE_MS = 12 * 60 * 60_000;
/** Maximum number of sessions per user. Beyond it, a sign-in ends the least recently used one. */
const MAX_OF_A_USER = 20;
/** Limit for all ServiceAccounts of a namespace together, because its admin can create any number of them. */
const MAX_OF_A_NAMESPACE = 200;
/**
 * Limit for all sessions. Beyond it, a sign-in ends a session of the user with the most, so that a few users cannot
 * sign out the others.
 */
const MAX_SESSIONS = 10_000;

interface Session {
  username: string;
  authorization: string;
  usedAt: number;
}

export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();
  readonly #ofUsers = new SessionUsage();
  /** By `limitKeyOf`: a user, or a namespace for ServiceAccounts. */
  readonly #ofOwners = new SessionUsage();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts a session for an authenticated user. Returns the value of `Set-Cookie`. */
  start(username: string, authorization: string): string {
    this.#makeRoom(username);
    const id = randomBytes(32).toString('base64url');
    const session = { username, authorization, usedAt: 0 };
    this.#sessions.set(id, session);
    this.#use(id, session);
    return `${COOKIE}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict`;
  }

  /** Ends the request's session, if there is one. Returns the value of `Set-Cookie`. */
  end(headers: IncomingHttpHeaders): string {
    const id = cookieOf(headers, COOKIE);
    this.#forget(id);
    return `${COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  /**
   * Returns the request's own credential, or the credential of its session. Throws 403 for a change with nothing but the cookie,
   * because a page of another site may have sent it.
   */
  authorizationOf({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): string | undefined {
    if (headers.authorization !== undefined) return headers.authorization;
    const id = this.#liveIdOf(headers);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined) return undefined;
    const changes = method !== 'GET' && method !== 'HEAD';
    if ((changes || headers.upgrade !== undefined) && !isOwnPage(headers)) {
      throw new ApiError(
        'Forbidden',
        "a console session is valid only for requests of the console's own pages",
      );
    }
    this.#use(id, session);
    return session.authorization;
  }

  #use(id: string, session: Session): void {
    session.usedAt = this.#clock.monotonic();
    this.#ofUsers.use(session.username, id);
    this.#ofOwners.use(limitKeyOf(session.username), id);
  }

  /** Returns the id in the request's cookie; undefined if its session has ended. */
  #liveIdOf(headers: IncomingHttpHeaders): string | undefined {
    const id = cookieOf(headers, COOKIE);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined) return undefined;
    if (!this.#isOver(session)) return id;
    this.#forget(id);
    return undefined;
  }

  #isOver({ usedAt }: Session): boolean {
    return this.#clock.monotonic() - usedAt > IDLE_MS;
  }

  #forget(id: string | undefined): void {
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined) return;
    this.#sessions.delete(id);
    this.#ofUsers.delete(session.username, id);
    this.#ofOwners.delete(limitKeyOf(session.username), id);
  }

  #makeRoom(username: string): void {
    const owner = limitKeyOf(username);
    if (this.#ofUsers.countOf(username) >= MAX_OF_A_USER) this.#forget(this.#ofUsers.leastUsedOf(username));
    if (this.#ofOwners.countOf(owner) >= MAX_OF_A_NAMESPACE) this.#forget(this.#ofOwners.leastUsedOf(owner));
    if (this.#sessions.size < MAX_SESSIONS) return;
    for (const [id, session] of this.#sessions) if (this.#isOver(session)) this.#forget(id);
    const largest = this.#ofOwners.holderWithMost();
    if (this.#sessions.size < MAX_SESSIONS || largest === undefined) return;
    this.#forget(this.#ofOwners.leastUsedOf(largest));
  }
}

/** Browsers cannot set headers on a WebSocket request, but they send its origin. */
function isOwnPage({ upgrade, origin, host, ...headers }: IncomingHttpHeaders): boolean {
  if (upgrade !== undefined) return host !== undefined && origin === `https://${host}`;
  return headers[REQUESTED_BY] !== undefined;
}

/**
 * Throws 403 for a change that a page of another site made a browser send. Browsers send a client certificate with
 * every request, like a cookie. They also send the request's origin (`Sec-Fetch-Site`, or only `Origin` in older ones).
 * Other clients do not, and are accepted.
 */
export function refuseCrossSite({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  const { 'sec-fetch-site': site, origin, host, upgrade } = headers;
  const changes = (method !== 'GET' && method !== 'HEAD') || upgrade !== undefined;
  const isForeign =
    (site !== undefined && site !== 'same-origin') || (origin !== undefined && origin !== `https://${host}`);
  if (!changes || !isForeign || isOwnPage(headers)) return;
  throw new ApiError(
    'Forbidden',
    "the certificate is accepted from a browser only for requests of the console's own pages",
  );
}

/** Returns the value of a cookie; undefined if it is absent or empty. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie.split(/; */).find((part) => part.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}
