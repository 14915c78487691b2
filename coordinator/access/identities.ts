/** Everything that is known of who may come and what they may do, as the API and the hub use it. */
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import type { Authorizer } from './rbac-authorizer.js';
import { type ServiceAccountTokens, TokenRefused } from './service-account-tokens.js';

/** Knows some bearer tokens; undefined for those that it does not know. */
export type Authenticator = (bearerToken: string) => UserInfo | undefined | Promise<UserInfo | undefined>;

export interface Identities {
  authorizer: Authorizer;
  /** Those of ServiceAccounts. */
  tokens: ServiceAccountTokens;
  /** Who a bearer token is, for the API itself; undefined when it is nobody's or counts no longer. */
  authenticate: Authenticator;
  /** Whose token it is for those audiences, or what is wrong with it ("" = nothing is known of it). */
  reviewToken(
    token: string,
    audiences: readonly string[],
  ): Promise<{ user: UserInfo; audiences: string[] } | { error: string }>;
}

interface IdentityDeps {
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
  /** All but ServiceAccounts' tokens, in the order in which they are asked. */
  others: readonly Authenticator[];
  /** What the API itself answers to. */
  audience: string;
}

/** Puts them together. */
export function createIdentities({ authorizer, tokens, others, audience }: IdentityDeps): Identities {
  const reviewToken: Identities['reviewToken'] = async (token, audiences) => {
    try {
      const verified = await tokens.verify(token, audiences);
      if (verified) return verified;
    } catch (error) {
      if (error instanceof TokenRefused) return { error: error.message };
      throw error;
    }
    // All others are for this API alone.
    if (!audiences.includes(audience)) return { error: '' };
    for (const authenticate of others) {
      const user = await authenticate(token);
      if (user) return { user, audiences: [audience] };
    }
    return { error: '' };
  };
  return {
    authorizer,
    tokens,
    reviewToken,
    authenticate: async (token) => {
      const found = await reviewToken(token, [audience]);
      return 'user' in found ? found.user : undefined;
    },
  };
}
