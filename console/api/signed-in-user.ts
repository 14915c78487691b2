/** Who is signed in, as the API knows them. */
import { callApi } from './api-call.js';

const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

const WAYS = '/console/sign-in';

let name = '';
let isCertified = false;

/** What the coordinator says of ways in. */
interface WaysIn {
  /** Whether there is an issuer to sign in at. */
  oidc: boolean;
  /** Whether the browser has shown a client certificate that counts. */
  certificate: boolean;
}

/** How one can sign in here; nobody has to be signed in for it. Rejects with `CallError`. */
export function fetchSignInMethods(signal?: AbortSignal): Promise<WaysIn> {
  return callApi<WaysIn>(WAYS, signal ? { signal } : {});
}

/** Asks; rejects with `CallError` 401 for nobody. */
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

/** Whether that is by a certificate, which the browser shows with each request: no button of ours ends it. */
export function isSignedInByCertificate(): boolean {
  return isCertified;
}

/** The name, once it was asked for. */
export function userName(): string {
  return name;
}
