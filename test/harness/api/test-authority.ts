/** Certificate authorities of tests. */
import { CertificateAuthority } from '../../../coordinator/pki/certificate-authority.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { sharedPki } from './api-fixture.js';

/** Returns the authority that the test API's port trusts. */
export async function testAuthority(clock: Clock): Promise<CertificateAuthority> {
  const pki = await sharedPki();
  return new CertificateAuthority(
    () => pki,
    clock,
    async () => undefined,
  );
}

/** A missing authority, for fleets whose hosts show no certificates. */
export const NO_AUTHORITY: Pick<
  CertificateAuthority,
  | 'read'
  | 'sign'
  | 'signServing'
  | 'clientAuthorities'
  | 'isOwnName'
  | 'trustBundle'
  | 'trustBundleToResend'
  | 'recognise'
> = {
  read: () => Promise.reject(new Error('this fleet signs nothing')),
  sign: () => Promise.reject(new Error('this fleet signs nothing')),
  signServing: () => Promise.reject(new Error('this fleet signs nothing')),
  clientAuthorities: () => '',
  isOwnName: () => false,
  trustBundle: () => '',
  trustBundleToResend: () => undefined,
  recognise: () => undefined,
};
