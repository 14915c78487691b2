/**
 * Sessions of the web console: a cookie that scripts cannot read stands for the credential that was signed in with. In memory:
 * a coordinator that starts again asks to sign in again, and no credential is on a disk.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../../../shared/kube/status.js';
import type { Clock } from '../../../shared/process/clock.js';
import { cookieOf } from './cookies.js';

/** `__Host-`: browsers take it over TLS alone, for this host alone. */
const COOKIE = '__Host-everynode-session';
/** A script of another site cannot set it without being asked for leave, which nobody gives. */
const REQUESTED_BY = 'x-everynode-console';
/** Of a session that is not used. */
const IDLE_MS = 12 * 60 * 60_000;
/** Of one person, whose least used one goes: nobody signs others out by signing in. */
const MAX_OF_A_USER = 20;
/** Of all; beyond it nobody is let in anew. */
const MAX_SESSIONS = 10_000;

interface Session {
  username: string;
  authorization: string;
  usedAt: number;
}

export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins one of a user who has proved to be it; answers the value of `Set-Cookie`. Throws 429 when there are too many of all. */
  begin(username: string, authorization: string): string {
    this.#makeRoom(username);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { username, authorization, usedAt: this.#clock.monotonic() });
    return `${COOKIE}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict`;
  }

  /** Ends that of the request, if any; answers the value of `Set-Cookie`. */
  end(headers: IncomingHttpHeaders): string {
    const id = cookieOf(headers, COOKIE);
    if (id !== undefined) this.#sessions.delete(id);
    return `${COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  /**
   * The credential of a request: its own, else its session's. Throws 403 for a change that comes with nothing but the cookie:
   * a page of somebody else may have sent it.
   */
  authorizationOf({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): string | undefined {
    if (headers.authorization !== undefined) return headers.authorization;
    const session = this.#sessionOf(headers);
    if (!session) return undefined;
    const changes = method !== 'GET' && method !== 'HEAD';
    if ((changes || headers.upgrade !== undefined) && !isOwnPage(headers)) {
      throw new ApiError('Forbidden', 'a session of the console counts for requests of its own pages alone');
    }
    session.usedAt = this.#clock.monotonic();
    return session.authorization;
  }

  #sessionOf(headers: IncomingHttpHeaders): Session | undefined {
    const id = cookieOf(headers, COOKIE);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined) return undefined;
    if (this.#clock.monotonic() - session.usedAt <= IDLE_MS) return session;
    this.#sessions.delete(id);
    return undefined;
  }

  #makeRoom(username: string): void {
    const own = [...this.#sessions]
      .filter(([, session]) => session.username === username)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const [leastUsed] = own;
    if (leastUsed && own.length >= MAX_OF_A_USER) this.#sessions.delete(leastUsed[0]);
    if (this.#sessions.size >= MAX_SESSIONS) {
      throw new ApiError('TooManyRequests', 'too many people are signed in to the console');
    }
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
export function refuseForeignPage({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  const { 'sec-fetch-site': site, origin, host, upgrade } = headers;
  const changes = (method !== 'GET' && method !== 'HEAD') || upgrade !== undefined;
  const isForeign =
    (site !== undefined && site !== 'same-origin') || (origin !== undefined && origin !== `https://${host}`);
  if (!changes || !isForeign || isOwnPage(headers)) return;
  throw new ApiError('Forbidden', "a certificate counts for requests of the console's own pages alone");
}
