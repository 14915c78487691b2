/** The signed-in user. */
import { callApi } from './api-call.js';

const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

const WAYS = '/console/sign-in';

let name = '';
let isCertified = false;

interface WaysIn {
  /** True if an OpenID Connect issuer is configured. */
  oidc: boolean;
  /** True if the browser presented a valid client certificate. */
  certificate: boolean;
}

/** Returns the available sign-in methods. Works without a session. Rejects with `ApiCallError`. */
export function fetchSignInMethods(signal?: AbortSignal): Promise<WaysIn> {
  return callApi<WaysIn>(WAYS, signal ? { signal } : {});
}

/** Loads the user. Rejects with `ApiCallError` 401 without a session. */
export async function loadUser(): Promise<void> {
  const ways = fetchSignInMethods().catch(() => undefined);
  const { status } = await callApi<{ status: { userInfo: { username?: string } } }>(WHO_AM_I, {
    method: 'POST',
    body: REVIEW,
    isQuestion: true,
  });
  name = status.userInfo.username ?? '';
  isCertified = (await ways)?.certificate ?? false;
}

/** Returns true for authentication by client certificate, which the console cannot end. */
export function isSignedInByCertificate(): boolean {
  return isCertified;
}

export function userName(): string {
  return name;
}
