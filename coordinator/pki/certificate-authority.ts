/** The fleet's certificate authority as its users see it: whom it signs for, and what its hosts are to trust. */
import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../shared/process/time/clock.js';
import {
  type IssuedCertificate,
  readSigningRequest,
  type SigningRequest,
  signClientCertificate,
} from './client-certificates.js';
import { certificatesIn, days, MAX_CLOCK_ERROR_DAYS } from './key-pair.js';
import type { Pki } from './load-pki.js';
import { isInTime, type PeerCertificate, subjectOf } from './peer-certificate.js';

/** Extended key usage of a client. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** kube-controller-manager's `--cluster-signing-duration`. */
const LIFETIME_MS = days(365);

type SigningPki = Pick<Pki, 'ca' | 'authorities' | 'trustBundle' | 'trustBundleToResend'>;

export class CertificateAuthority {
  readonly #pki: () => SigningPki;
  readonly #clock: Clock;
  readonly #renew: () => Promise<void>;

  /** `pki` answers what counts at that moment; `renew` has it made anew as far as it is not good by the clock as it is now. */
  constructor(pki: () => SigningPki, clock: Clock, renew: () => Promise<void>) {
    this.#pki = pki;
    this.#clock = clock;
    this.#renew = renew;
  }

  /** PEM of the authorities by which hosts are to know the coordinator. */
  trustBundle(): string {
    return this.#pki().trustBundle;
  }

  /** The same for a host that was away; undefined when it cannot have missed any. Every welcome asks: nothing is read anew for it. */
  trustBundleToResend(): string | undefined {
    return this.#pki().trustBundleToResend;
  }

  /** Whose certificate it is, when it is one of a client that this authority signed and good now. */
  recognise(certificate: X509Certificate): PeerCertificate | undefined {
    const isClient = !certificate.ca && certificate.keyUsage?.includes(CLIENT_AUTH);
    const isOurs = () =>
      certificatesIn(this.#pki().authorities).some((each) => certificate.verify(each.publicKey));
    const isGood = isClient && isInTime(certificate, this.#clock.now()) && isOurs();
    return isGood ? subjectOf(certificate) : undefined;
  }

  /** What a request asks for. Throws an Error that says in a few words why it is none. */
  read(requestPem: string): Promise<SigningRequest> {
    return readSigningRequest(requestPem);
  }

  /**
   * The client certificate that a request asks for: who may have it was decided before. `wishedMs`: less than a year. It ends no
   * sooner than the one that it replaces: with a clock that was set back a year it would be over when that is put right.
   */
  async sign(
    requestPem: string,
    { wishedMs = LIFETIME_MS, formerEndMs = 0 }: { wishedMs?: number; formerEndMs?: number } = {},
  ): Promise<IssuedCertificate> {
    const now = this.#clock.now();
    // No certificate outlives its authority's: by a clock that was set a moment ago, that may be over.
    if (!isInTime(new X509Certificate(this.#pki().ca.cert), now)) await this.#renew();
    const formerMs = Math.min(formerEndMs - now, LIFETIME_MS + days(MAX_CLOCK_ERROR_DAYS));
    const lifetimeMs = Math.max(Math.min(wishedMs, LIFETIME_MS), formerMs);
    return signClientCertificate(this.#pki().ca, requestPem, { now, lifetimeMs });
  }
}
