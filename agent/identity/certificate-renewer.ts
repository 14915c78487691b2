/**
 * Renews the host's certificate over the link. If the link is refused because the certificate expired, it requests one
 * over HTTPS with the host's own key, which an operator may have to approve.
 */
import { X509Certificate } from 'node:crypto';
import { CERTIFICATE_PATH, type CertificateIssued } from '../../shared/link/messages/link-messages.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { LinkCertificateHandler } from '../link/link-delegate.js';
import { requestCertificate } from './coordinator-client.js';
import { certificateRequest, publicKeyHashOf } from './host-certificate-request.js';
import type { HostIdentity } from './host-identity.js';

/** Longest timer delay: the runtime counts milliseconds in 31 bits. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;
/** Delay before an unanswered renewal is repeated. */
const RETRY_MS = 60_000;
/** Interval of queries for an operator's decision. */
const POLL_INTERVAL_MS = 10_000;

interface CertificateRenewerOptions {
  identity: HostIdentity;
  /** Returns the coordinator's current address. */
  server: () => URL;
  /** A monotonic clock. */
  clock: Clock;
  random: Random;
  log: Logger;
  pollIntervalMs?: number;
}

export class CertificateRenewer implements LinkCertificateHandler {
  readonly #options: CertificateRenewerOptions;
  /** One random number per process. With a new one for each check, the earliest of all renewal times would win. */
  readonly #jitter: number;
  #timer: Timer | undefined;
  #isRequesting = false;
  #isStopped = false;

  constructor(options: CertificateRenewerOptions) {
    this.#options = options;
    this.#jitter = options.random.random();
  }

  onLive(serverTimeMs: number, ask: ((csr: string) => void) | undefined): void {
    const { clock } = this.#options;
    if (!ask) return;
    const offsetMs = serverTimeMs - clock.now();
    this.#watch(offsetMs, ask);
  }

  onLost(): void {
    this.#timer?.cancel();
  }

  onCertified({ certificate, ca }: CertificateIssued): void {
    // The hub sends both authorities at each welcome while there are two: write only changes.
    if (certificate === undefined && ca === this.#options.identity.ca) return;
    const change = {
      ...(certificate === undefined ? {} : { certificate }),
      ...(ca === undefined ? {} : { ca }),
    };
    void this.#apply(change);
  }

  onRefused(again: () => void): void {
    void this.#askByHttps(again);
  }

  /** Stops all requests. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** `offsetMs`: the hub's clock minus the host's. */
  #watch(offsetMs: number, ask: (csr: string) => void): void {
    const { identity, clock } = this.#options;
    const { validFrom, validTo } = new X509Certificate(identity.certificate ?? '');
    const times = { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
    const dueInMs = certificateRenewalTimeMs(times, this.#jitter) - (clock.now() + offsetMs);
    const waitMs = dueInMs <= 0 ? RETRY_MS : Math.min(dueInMs, MAX_WAIT_MS);
    if (dueInMs <= 0) void this.#request().then(ask, (error: unknown) => this.#warn(error));
    this.#timer?.cancel();
    this.#timer = clock.after(waitMs, () => this.#watch(offsetMs, ask));
  }

  async #request(): Promise<string> {
    const { identity } = this.#options;
    return certificateRequest(identity.key, identity.enrolment.node);
  }

  /** Ignores a certificate for another key or an unreadable one. */
  async #apply(change: { certificate?: string; ca?: string }): Promise<void> {
    const { identity, log } = this.#options;
    try {
      const isForeign = change.certificate !== undefined && !this.#isForOurKey(change.certificate);
      if (isForeign) throw new Error('the certificate is for another key');
      if (change.ca !== undefined) new X509Certificate(change.ca);
      await identity.update(change);
      log.info({ what: Object.keys(change) }, 'certificate or authorities updated');
    } catch (error) {
      this.#warn(error);
    }
  }

  #isForOurKey(certificate: string): boolean {
    return publicKeyHash(new X509Certificate(certificate)) === publicKeyHashOf(this.#options.identity.key);
  }

  /** Requests a certificate with the host's key until the coordinator has decided. */
  async #askByHttps(again: () => void): Promise<void> {
    if (this.#isRequesting) return;
    this.#isRequesting = true;
    try {
      await this.#askUntilDecided();
      again();
    } catch (error) {
      this.#warn(error);
    } finally {
      this.#isRequesting = false;
    }
  }

  async #askUntilDecided(): Promise<void> {
    const { identity, server, clock, log, pollIntervalMs = POLL_INTERVAL_MS } = this.#options;
    const { node } = identity.enrolment;
    const request = { node, csr: await this.#request() };
    for (;;) {
      const { ca, certificate: own, tunnel } = identity;
      const trusted = { server: server(), ca, certificate: own, tunnel };
      const answer = await requestCertificate(trusted, CERTIFICATE_PATH, request);
      if (answer.state === 'joined') {
        const { certificate, ca, joinMac } = answer;
        if (certificate === undefined || !this.#isForOurKey(certificate))
          throw new Error("the answer has no certificate for this host's key");
        await identity.update({ certificate, ...(ca && { ca }), ...(joinMac && { joinMac }) });
        log.info('this host has a new certificate');
        return;
      }
      log.warn({ request: answer.request }, answer.message);
      await new Promise<void>((resolve) => void clock.after(pollIntervalMs, resolve));
      if (this.#isStopped) throw new Error('the agent is stopping');
    }
  }

  #warn(error: unknown): void {
    if (this.#isStopped) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.log.warn({ message }, 'certificate could not be renewed');
  }
}

interface CertificateTimes {
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * Returns when to request the next certificate: between 70 and 90 % of its lifetime, like a kubelet. `chance` in [0, 1)
 * spreads the renewals of hosts that joined together.
 */
function certificateRenewalTimeMs({ notBeforeMs, notAfterMs }: CertificateTimes, chance: number): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * chance);
}
