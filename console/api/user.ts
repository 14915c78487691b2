/** Who is signed in, as the API knows them. */
import { call } from './call.js';

const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

let name = '';

/** Asks; rejects with `CallError` 401 for nobody. */
export async function askWhoIAm(): Promise<void> {
  const { status } = await call<{ status: { userInfo: { username?: string } } }>(WHO_AM_I, {
    method: 'POST',
    body: REVIEW,
    isQuestion: true,
  });
  name = status.userInfo.username ?? '';
}

/** The name, once it was asked for. */
export function userName(): string {
  return name;
}
