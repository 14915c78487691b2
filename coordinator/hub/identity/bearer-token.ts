/** Reads bearer tokens from the Authorization header. */
import { unauthorized } from './unauthorized.js';

/** Returns the token after `Bearer`. Throws ApiError 401 if there is none. */
export function bearerTokenOf(authorization: string | undefined): string {
  const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (!bearer) throw unauthorized();
  return bearer;
}
