/** Authentication and authorization, for the API and the hub. */
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import type { Authorizer } from './rbac-authorizer.js';
import { type ServiceAccountTokens, TokenRefused } from './service-account-tokens.js';

/** Returns the user of a bearer token, or undefined for an unknown token. */
export type Authenticator = (bearerToken: string) => UserInfo | undefined | Promise<UserInfo | undefined>;

export interface Identities {
  authorizer: Authorizer;
  /** Issues and verifies ServiceAccount tokens. */
  tokens: ServiceAccountTokens;
  /** Returns the user of a bearer token that is valid for the API itself, or undefined. */
  authenticate: Authenticator;
  /** Returns the user of a token for these audiences, or the reason why it is invalid ("" = unknown token). */
  reviewToken(
    token: string,
    audiences: readonly string[],
  ): Promise<{ user: UserInfo; audiences: string[] } | { error: string }>;
}

interface IdentityDeps {
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
  /** Authenticators of other tokens, in the order in which they are tried. */
  others: readonly Authenticator[];
  /** The audience of the API itself. */
  audience: string;
}

/** Combines the authenticators. */
export function createIdentities({ authorizer, tokens, others, audience }: IdentityDeps): Identities {
  const reviewToken: Identities['reviewToken'] = async (token, audiences) => {
    try {
      const verified = await tokens.verify(token, audiences);
      if (verified) return verified;
    } catch (error) {
      if (error instanceof TokenRefused) return { error: error.message };
      throw error;
    }
    // Only ServiceAccount tokens can have other audiences than the API.
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
