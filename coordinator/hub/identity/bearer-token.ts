/** Reads bearer tokens from the Authorization header. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** Returns the token after `Bearer`. Throws ApiError 401 if there is none. */
export function bearerTokenOf(authorization: string | undefined): string {
  const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (!bearer) throw unauthorized();
  return bearer;
}

/** Upstream's error for failed authentication. It names no cause, so that it reveals nothing to an attacker. */
export function unauthorized(): ApiError {
  return new ApiError('Unauthorized', 'Unauthorized');
}
