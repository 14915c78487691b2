/** Certificate authorities of tests. */
import { CertificateAuthority } from '../../../coordinator/pki/certificate-authority.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { sharedPki } from './api-fixture.js';

/** That of the test API's port: what it signs is believed there. */
export async function testAuthority(clock: Clock): Promise<CertificateAuthority> {
  const pki = await sharedPki();
  return new CertificateAuthority(
    () => pki,
    clock,
    async () => undefined,
  );
}

/** For fleets whose hosts show no certificates. */
export const NO_AUTHORITY: Pick<
  CertificateAuthority,
  'read' | 'sign' | 'trustBundle' | 'trustBundleToResend' | 'recognise'
> = {
  read: () => Promise.reject(new Error('this fleet signs nothing')),
  sign: () => Promise.reject(new Error('this fleet signs nothing')),
  trustBundle: () => '',
  trustBundleToResend: () => undefined,
  recognise: () => undefined,
};
