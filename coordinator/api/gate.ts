/** Who may come in: every request and every upgrade passes here before anything is done for it. */
import { ApiError } from '../../shared/kube/status.js';
import type { Clock } from '../../shared/process/clock.js';
import { type Authenticator, bearerTokenOf, type UserInfo } from './authenticate.js';
import { authorize, isPublic } from './authorize.js';
import { type ClientLimitSettings, ClientLimits } from './client-limits.js';
import type { RequestInfo } from './request-info.js';

export class Gate {
  readonly #authenticate: Authenticator;
  readonly #clients: ClientLimits;

  constructor(authenticate: Authenticator, limits: ClientLimitSettings, clock: Clock) {
    this.#authenticate = authenticate;
    this.#clients = new ClientLimits(limits, clock);
  }

  /** The user, or undefined where nobody needs to say who they are. Throws 401, 429. */
  async identify(
    info: RequestInfo,
    authorization: string | undefined,
    address: string,
  ): Promise<UserInfo | undefined> {
    return isPublic(info) ? undefined : this.#userOf(authorization, address);
  }

  /** Throws 429 when the user asks for too much from this address, 403 when they may not. */
  pass(user: UserInfo, info: RequestInfo, address: string): void {
    this.#clients.take(`${user.username} ${address}`);
    authorize(user, info);
  }

  /** Who fails to say it pays by address: guessing tokens is slow. */
  async #userOf(authorization: string | undefined, address: string): Promise<UserInfo> {
    const token = bearerTokenOf(authorization);
    const user = token === undefined ? undefined : await this.#authenticate(token);
    if (user) return user;
    this.#clients.take(address);
    throw new ApiError('Unauthorized', 'Unauthorized');
  }
}
