/** Who may come in: every request and every upgrade passes here before anything is done for it. */
import type { IncomingMessage } from 'node:http';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Identities } from '../../access/identities.js';
import { asksToImpersonate, readImpersonation } from '../../access/impersonation.js';
import type { AccessDecision } from '../../access/rbac-authorizer.js';
import { limitKeyOf as limitKeyOfUser } from '../../access/user-groups.js';
import { type ConsoleSessions, refuseCrossSite } from '../console/console-sessions.js';
import { hasRightScope, type ResourceScopes } from '../discovery/resource-scope.js';
import type { RequestInfo } from '../http/request-info.js';
import { pathNotFound } from '../http/status-response.js';
import { type ClientLimitSettings, ClientLimits } from '../limits/client-limits.js';
import { networkOf } from '../limits/peer-network.js';
import { authorize, isPublic, requireAccess } from './request-authorization.js';
import { bearerTokenOf } from './token-authenticator.js';

/** Who a request is from, and as whom they act when that is someone else. */
export interface Identity {
  /** Whose rights count. */
  user: UserInfo;
  /** Who proved to be there; absent when that is the user. */
  impersonator?: UserInfo;
}

/** The name under which limits count this identity: whom it impersonates makes no difference. */
export function limitKeyOf({ user, impersonator = user }: Identity): string {
  return limitKeyOfUser(impersonator.username);
}

export interface AuthFilterOptions {
  resources: ResourceScopes;
  identities: Pick<Identities, 'authorizer' | 'authenticate'>;
  /** Knows the user of a client certificate that came with the connection; absent: no certificate counts. */
  authenticateSocket?: (socket: IncomingMessage['socket']) => UserInfo | undefined;
  /** People who signed in to the console: their cookie stands for what they signed in with. */
  sessions: Pick<ConsoleSessions, 'authorizationOf'>;
  clientLimits: ClientLimitSettings;
  clock: Clock;
}

/** What of a request says who sent it. */
export type Caller = Pick<IncomingMessage, 'method' | 'headers' | 'headersDistinct' | 'socket'>;

export class AuthFilter {
  readonly #options: AuthFilterOptions;
  readonly #clients: ClientLimits;

  constructor(options: AuthFilterOptions) {
    this.#options = options;
    this.#clients = new ClientLimits(options.clientLimits, options.clock);
  }

  /**
   * Who is there, undefined where nobody needs to say it. Throws 401 for nobody, 403 for someone who may not act as
   * whom they say, 429. `onProved` hears who it is before they act as anyone else.
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
   * By what the request is allowed. Throws 429 when the user asks for too much from this network, 404 when the path has the wrong scope
   * for its resource, 403 when the user may not.
   */
  authorize(identity: Identity, info: RequestInfo, caller: Caller): AccessDecision | undefined {
    this.#clients.take(`${limitKeyOf(identity)} ${networkOfCaller(caller)}`);
    this.#refuseWrongScope(info);
    return authorize(this.#options.identities.authorizer, identity.user, info);
  }

  /**
   * Throws 404 for a cluster-scoped resource below a namespace, and for a namespaced object outside of one. Must run before
   * authorization: a Role with `*` in a namespace would allow the first. Like kube-apiserver, a resource that is not served at all is
   * authorized first and not found afterwards.
   */
  #refuseWrongScope(info: RequestInfo): void {
    if (info.type !== 'resource') return;
    const resource = this.#options.resources.find(info);
    if (resource && !hasRightScope(resource, info)) throw pathNotFound();
  }

  /** Lets anybody in who asks for what is for everybody. Throws 429 when this network asks for too much. */
  admitAnonymous(caller: Caller): void {
    this.#clients.take(networkOfCaller(caller));
  }

  /** Whose token it is, for signing in; undefined for nobody's, which costs the network as a guess does. Throws 429. */
  async userOfToken(token: string, caller: Caller): Promise<UserInfo | undefined> {
    const user = await this.#options.identities.authenticate(token);
    if (!user) this.#clients.take(networkOfCaller(caller));
    return user;
  }

  /** Whether who is there is known by a client certificate: a session of the console ends, a certificate does not. */
  hasClientCertificate({ socket }: Pick<Caller, 'socket'>): boolean {
    return this.#options.authenticateSocket?.(socket) !== undefined;
  }

  /** A certificate goes before a token. Who fails to say it pays by network: guessing tokens is slow. */
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

function networkOfCaller({ socket }: Caller): string {
  return networkOf(socket.remoteAddress ?? '');
}
