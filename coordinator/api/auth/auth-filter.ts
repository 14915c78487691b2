/** Authenticates and authorizes every request and every upgrade before any work is done for it. */
import type { IncomingMessage } from 'node:http';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import { type Clock, pause } from '../../../shared/process/time/clock.js';
import type { Identities } from '../../access/identities.js';
import { asksToImpersonate, readImpersonation } from '../../access/impersonation.js';
import type { AccessDecision } from '../../access/rbac-authorizer.js';
import { limitKeyOf as limitKeyOfUser } from '../../access/user-groups.js';
import { type ConsoleSessions, refuseCrossSite } from '../console/console-sessions.js';
import { hasRightScope, type ResourceScopes } from '../discovery/resource-scope.js';
import type { RequestInfo } from '../http/request-info.js';
import { pathNotFound } from '../http/status-response.js';
import { type ClientLimitSettings, ClientLimits } from '../limits/client-limits.js';
import { authorize, isPublic, requireAccess } from './request-authorization.js';
import { bearerTokenOf } from './token-authenticator.js';

export interface Identity {
  /** The effective user. */
  user: UserInfo;
  /** The authenticated user; absent without impersonation. */
  impersonator?: UserInfo;
}

/** Returns the key under which limits count this identity. Impersonation does not change it. */
export function limitKeyOf({ user, impersonator = user }: Identity): string {
  return limitKeyOfUser(impersonator.username);
}

export interface AuthFilterOptions {
  resources: ResourceScopes;
  identities: Pick<Identities, 'authorizer' | 'authenticate'>;
  /** Returns the user of the connection's client certificate. Absent if client certificates are not accepted. */
  authenticateSocket?: (socket: IncomingMessage['socket']) => UserInfo | undefined;
  /** Sessions of the console. A session's cookie replaces the credential of its sign-in. */
  sessions: Pick<ConsoleSessions, 'authorizationOf'>;
  clientLimits: ClientLimitSettings;
  clock: Clock;
}

/** The fields of a request that identify its client. */
export type Caller = Pick<IncomingMessage, 'method' | 'headers' | 'headersDistinct' | 'socket'>;

export class AuthFilter {
  readonly #options: AuthFilterOptions;
  readonly #clients: ClientLimits;

  constructor(options: AuthFilterOptions) {
    this.#options = options;
    this.#clients = new ClientLimits(options.clientLimits, options.clock);
  }

  /**
   * Returns the identity, or undefined for a public path. Throws 401 without valid credentials, 403 for a forbidden
   * impersonation, 429. Calls `onProved` with the authenticated user before impersonation is checked.
   */
  async authenticate(
    info: RequestInfo,
    caller: Caller,
    onProved: (identity: Identity) => void = () => undefined,
  ): Promise<Identity | undefined> {
    if (isPublic(info)) return undefined;
    const user = await this.#userOf(caller);
    onProved({ user });
    if (!asksToImpersonate(caller.headers)) return { user };
    const { user: other, requiredAccess: needs } = readImpersonation(caller.headersDistinct);
    for (const access of needs) requireAccess(this.#options.identities.authorizer, user, access);
    return { user: other, impersonator: user };
  }

  /**
   * Returns the decision that allows the request. Throws 429 if the user exceeds the rate limit for this network, 404
   * if the path has the wrong scope for its resource, 403 if no role allows it.
   */
  authorize(identity: Identity, info: RequestInfo, caller: Caller): AccessDecision | undefined {
    this.#clients.take(clientOf(identity, caller));
    this.#refuseWrongScope(info);
    return authorize(this.#options.identities.authorizer, identity.user, info);
  }

  /**
   * Authenticates and authorizes a request. Sets `outcome` before it throws, so that a refusal is logged with its user. Returns
   * undefined for a public path. Throws like `authenticate` and `authorize`.
   */
  async admit(
    info: RequestInfo,
    caller: Caller,
    outcome: { identity?: Identity; decision?: AccessDecision },
  ): Promise<Identity | undefined> {
    const identity = await this.authenticate(info, caller, (proved) => {
      outcome.identity = proved;
    });
    if (!identity) return undefined;
    outcome.identity = identity;
    const waitMs = this.#clients.waitMs(clientOf(identity, caller));
    if (waitMs > 0) await pause(waitMs);
    const decision = this.authorize(identity, info, caller);
    if (decision) outcome.decision = decision;
    return identity;
  }

  /**
   * Throws 404 for a cluster-scoped resource below a namespace, and for a namespaced object outside of one. It must run
   * before authorization, because a Role with `*` in a namespace would allow the first. Like in kube-apiserver, an
   * unknown resource is authorized first and not found later.
   */
  #refuseWrongScope(info: RequestInfo): void {
    if (info.type !== 'resource') return;
    const resource = this.#options.resources.find(info);
    if (resource && !hasRightScope(resource, info)) throw pathNotFound();
  }

  /** Admits a request for a public resource. Throws 429 if this network exceeds the rate limit. */
  admitAnonymous(caller: Caller): void {
    this.#clients.take(networkOfCaller(caller));
  }

  /**
   * Returns the user of a token at sign-in; undefined for an unknown token, which counts against the network's rate
   * limit. Throws 429.
   */
  async userOfToken(token: string, caller: Caller): Promise<UserInfo | undefined> {
    const user = await this.#options.identities.authenticate(token);
    if (!user) this.#clients.take(networkOfCaller(caller));
    return user;
  }

  /** True if the connection has a valid client certificate. A session of the console can end, a certificate cannot. */
  hasClientCertificate({ socket }: Pick<Caller, 'socket'>): boolean {
    return this.#options.authenticateSocket?.(socket) !== undefined;
  }

  /**
   * A certificate takes precedence over a token. Failed attempts count against the network's rate limit, so tokens
   * cannot be guessed fast.
   */
  async #userOf(caller: Caller): Promise<UserInfo> {
    const known = this.#options.authenticateSocket?.(caller.socket);
    if (known) {
      refuseCrossSite(caller);
      return known;
    }
    const token = bearerTokenOf(this.#options.sessions.authorizationOf(caller));
    const user = token === undefined ? undefined : await this.#options.identities.authenticate(token);
    if (user) return user;
    this.#clients.take(networkOfCaller(caller));
    throw new ApiError('Unauthorized', 'Unauthorized');
  }
}

/** The key of a client's rate limit. */
function clientOf(identity: Identity, caller: Caller): string {
  return `${limitKeyOf(identity)} ${networkOfCaller(caller)}`;
}

function networkOfCaller({ socket }: Caller): string {
  return networkOf(socket.remoteAddress ?? '');
}
