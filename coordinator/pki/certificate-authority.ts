/** The fleet's certificate authority: signs client certificates and provides the trust bundle. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Clock } from '../../shared/process/time/clock.js';
import {
  type IssuedCertificate,
  readSigningRequest,
  type SigningRequest,
  signClientCertificate,
} from './client-certificates.js';
import { certificatesIn, days, MAX_CLOCK_ERROR_DAYS } from './key-pair.js';
import type { Pki } from './load-pki.js';
import { isServedName, signNodeServingCertificate } from './node-serving-certificates.js';
import { isInTime, type PeerCertificate, subjectOf } from './peer-certificate.js';

/** The extended key usage of clients. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** kube-controller-manager's `--cluster-signing-duration`. */
const LIFETIME_MS = days(365);

type SigningPki = Pick<Pki, 'ca' | 'authorities' | 'trustBundle' | 'trustBundleToResend'> &
  Partial<Pick<Pki, 'serving'>>;

export class CertificateAuthority {
  readonly #pki: () => SigningPki;
  readonly #clock: Clock;
  readonly #renew: () => Promise<void>;
  /** The public keys of `authorities`. Parsed once, because every link verifies a certificate. */
  #clientKeys: { pem: string; keys: readonly KeyObject[] } = { pem: '', keys: [] };

  /** `pki` returns the present state. `renew` reissues certificates that are not valid at the present time. */
  constructor(pki: () => SigningPki, clock: Clock, renew: () => Promise<void>) {
    this.#pki = pki;
    this.#clock = clock;
    this.#renew = renew;
  }

  /** Returns the PEM bundle by which hosts verify the coordinator. */
  trustBundle(): string {
    return this.#pki().trustBundle;
  }

  /** Returns the bundle for a host that may have missed a change. Every welcome calls it, so it parses nothing. */
  trustBundleToResend(): string | undefined {
    return this.#pki().trustBundleToResend;
  }

  /** Returns the PEM of the authorities that sign client certificates. */
  clientAuthorities(): string {
    return this.#pki().authorities;
  }

  /** True if this coordinator's own certificate is valid for the name or address. */
  isOwnName(name: string): boolean {
    return isServedName(this.#pki().serving?.cert ?? '', name);
  }

  /** Returns the subject of a valid client certificate of this authority, otherwise undefined. */
  recognise(certificate: X509Certificate): PeerCertificate | undefined {
    const isClient = !certificate.ca && certificate.keyUsage?.includes(CLIENT_AUTH);
    const isOurs = () => this.#authorityKeys().some((key) => certificate.verify(key));
    const isGood = isClient && isInTime(certificate, this.#clock.now()) && isOurs();
    return isGood ? subjectOf(certificate) : undefined;
  }

  /** Signs a serving certificate for a request that the caller has checked. */
  async signServing(
    request: { node: string; requestPem: string },
    names: { dns: readonly string[]; ips: readonly string[] },
  ): Promise<string> {
    const now = this.#clock.now();
    if (!isInTime(new X509Certificate(this.#pki().ca.cert), now)) await this.#renew();
    return signNodeServingCertificate(this.#pki().ca, request, names, now);
  }

  /** Parses a signing request. Throws an Error with a short reason. */
  read(requestPem: string): Promise<SigningRequest> {
    return readSigningRequest(requestPem);
  }

  /**
   * Signs a client certificate for an authorized request. `wishedMs` is limited to a year. The new certificate does not
   * end before the previous one: if the clock is a year behind, it would be expired as soon as the clock is corrected.
   */
  async sign(
    requestPem: string,
    { wishedMs = LIFETIME_MS, formerEndMs = 0 }: { wishedMs?: number; formerEndMs?: number } = {},
  ): Promise<IssuedCertificate> {
    const now = this.#clock.now();
    // A certificate must not outlive its authority's, which may have expired by a clock that was just changed.
    if (!isInTime(new X509Certificate(this.#pki().ca.cert), now)) await this.#renew();
    const formerMs = Math.min(formerEndMs - now, LIFETIME_MS + days(MAX_CLOCK_ERROR_DAYS));
    const lifetimeMs = Math.max(Math.min(wishedMs, LIFETIME_MS), formerMs);
    return signClientCertificate(this.#pki().ca, requestPem, { now, lifetimeMs });
  }

  #authorityKeys(): readonly KeyObject[] {
    const pem = this.#pki().authorities;
    if (pem !== this.#clientKeys.pem)
      this.#clientKeys = { pem, keys: certificatesIn(pem).map(({ publicKey }) => publicKey) };
    return this.#clientKeys.keys;
  }
}
