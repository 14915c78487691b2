/** The Authorization header. */
import { unauthorized } from './unauthorized.js';

/** What follows `Bearer`. Throws ApiError 401 when there is nothing. */
export function bearerTokenOf(authorization: string | undefined): string {
  const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (!bearer) throw unauthorized();
  return bearer;
}
