/**
 * OpenID Connect discovery of the ServiceAccount issuer: other services verify ServiceAccount tokens with these keys
 * (`pkg/serviceaccount/openidmetadata.go`, `pkg/routes/openidmetadata.go`). Unlike upstream, no key file or setting is
 * needed: the keys are those that sign.
 */
import { ISSUER, SIGNING_ALGORITHM } from '../../access/service-account-tokens.js';
import type { ApiDeps, ApiResponse } from '../http/api-context.js';
import type { PathRequest } from '../http/request-info.js';
import { methodNotAllowed } from '../http/status-response.js';

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';
/** Upstream's time. A verifier fetches the keys again when it meets an unknown key id. */
const MAX_AGE_SECONDS = 3600;

/** True for the paths that `issuerResponse` answers. A role must grant them. */
export function isIssuerPath(path: string): boolean {
  return path === CONFIGURATION_PATH || path === KEYS_PATH;
}

/** Returns the configuration or the keys. Throws 405. */
export async function issuerResponse(
  { identities, joinFacts }: Pick<ApiDeps, 'identities' | 'joinFacts'>,
  { method, path }: Pick<PathRequest, 'method' | 'path'>,
): Promise<ApiResponse> {
  if (method !== 'GET') throw methodNotAllowed();
  if (path === KEYS_PATH) {
    return cached(await identities.tokens.publicKeys(), { 'content-type': 'application/jwk-set+json' });
  }
  const { server } = await joinFacts();
  return cached({
    issuer: ISSUER,
    jwks_uri: `${server}${KEYS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
  });
}

function cached(value: object, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  const lifetime = { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` };
  return { type: 'value', code: 200, value, headers: { ...headers, ...lifetime } };
}
