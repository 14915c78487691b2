/**
 * Sessions of the web console: a cookie that scripts cannot read stands for the credential that was signed in with. In memory:
 * a coordinator that starts again asks to sign in again, and no credential is on a disk.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { limitKeyOf } from '../../access/user-groups.js';
import { SessionUsage } from './session-usage.js';

/** `__Host-`: browsers take it over TLS alone, for this host alone. */
const COOKIE = '__Host-everynode-session';
/** A script of another site cannot set it without being asked for leave, which nobody gives. */
const REQUESTED_BY = 'x-everynode-console';
/** Of a session that is not used. */
const IDLE_MS = 12 * 60 * 60_000;
/** Sessions of one user. Beyond it, signing in ends the least recently used one. */
const MAX_OF_A_USER = 20;
/** The same for all ServiceAccounts of a namespace together: its admin can create any number of accounts. */
const MAX_OF_A_NAMESPACE = 200;
/** All sessions. Beyond it, signing in ends a session of the user with the most, so that a few users cannot sign the others out. */
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
  /** By `limitKey`: users, and namespaces of ServiceAccounts. */
  readonly #ofOwners = new SessionUsage();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a session of a user who has proved to be it. Returns the value of `Set-Cookie`. */
  start(username: string, authorization: string): string {
    this.#makeRoom(username);
    const id = randomBytes(32).toString('base64url');
    const session = { username, authorization, usedAt: 0 };
    this.#sessions.set(id, session);
    this.#use(id, session);
    return `${COOKIE}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict`;
  }

  /** Ends that of the request, if any; answers the value of `Set-Cookie`. */
  end(headers: IncomingHttpHeaders): string {
    const id = cookieOf(headers, COOKIE);
    this.#forget(id);
    return `${COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  /**
   * The credential of a request: its own, else its session's. Throws 403 for a change that comes with nothing but the cookie:
   * a page of somebody else may have sent it.
   */
  authorizationOf({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): string | undefined {
    if (headers.authorization !== undefined) return headers.authorization;
    const id = this.#liveIdOf(headers);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined) return undefined;
    const changes = method !== 'GET' && method !== 'HEAD';
    if ((changes || headers.upgrade !== undefined) && !isOwnPage(headers)) {
      throw new ApiError('Forbidden', 'a session of the console counts for requests of its own pages alone');
    }
    this.#use(id, session);
    return session.authorization;
  }

  #use(id: string, session: Session): void {
    session.usedAt = this.#clock.monotonic();
    this.#ofUsers.use(session.username, id);
    this.#ofOwners.use(limitKeyOf(session.username), id);
  }

  /** Of the request's cookie; undefined when its session is over. */
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

/** A browser sets no header of its own on a WebSocket, but says where it comes from. */
function isOwnPage({ upgrade, origin, host, ...headers }: IncomingHttpHeaders): boolean {
  if (upgrade !== undefined) return host !== undefined && origin === `https://${host}`;
  return headers[REQUESTED_BY] !== undefined;
}

/**
 * Refuses a change that a page of somebody else had a browser send: a client certificate comes along by itself, as a cookie would.
 * Browsers say with each request where it comes from (`Sec-Fetch-Site`, older ones `Origin` alone); other clients do not, and are let
 * through. Throws 403.
 */
export function refuseCrossSite({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  const { 'sec-fetch-site': site, origin, host, upgrade } = headers;
  const changes = (method !== 'GET' && method !== 'HEAD') || upgrade !== undefined;
  const isForeign =
    (site !== undefined && site !== 'same-origin') || (origin !== undefined && origin !== `https://${host}`);
  if (!changes || !isForeign || isOwnPage(headers)) return;
  throw new ApiError('Forbidden', "a certificate counts for requests of the console's own pages alone");
}

/** The value of one; undefined when it is not there, or empty. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie.split(/; */).find((part) => part.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}
