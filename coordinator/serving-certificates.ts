/** The certificates that the API serves with and the authorities that it accepts: loaded at the start, renewed while it serves. */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from '../shared/process/output/logger.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { ServingTls } from './api/http/tls-options.js';
import { kubeconfigPath } from './coordinator-data-dir.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { loadPki, type Pki } from './pki/load-pki.js';
import { isInTime } from './pki/peer-certificate.js';
import { readSupplied } from './pki/supplied-certificates.js';
import { loadTicketKeys, SESSION_SECONDS } from './pki/tls-ticket-keys.js';
import { servingNames } from './server-addresses.js';

interface ServingCertificatesDeps {
  settings: CoordinatorSettings;
  /** Returns further names of the certificate: clients reach the leader through the addresses of all coordinators. */
  otherNames?: () => readonly string[];
  /**
   * Stores the authorities for the other coordinators. Awaited before hosts learn a new authority: if this machine died
   * before, no other coordinator would have its key.
   */
  publishKeys?: () => Promise<void>;
  clock: Clock;
  log: Logger;
}

type OnRenewed = (tls: ServingTls, isTrustChanged: boolean) => Promise<void>;

const RENEWAL_FAILED = 'failed to renew the certificate';

export class ServingCertificates {
  readonly #deps: ServingCertificatesDeps;
  #pki: Pki | undefined;
  #onRenewed: OnRenewed = async () => undefined;
  readonly #trustListeners: (() => void)[] = [];
  /** Names of the certificate that was loaded last. */
  #usedNames: readonly string[] = [];
  /**
   * Replaces the serving certificate and the ticket keys if they are due, and the certificate also if this machine has a new name or
   * address. A call during a run starts another run, which reads the clock again: the first one may have read it before a clock step.
   */
  readonly renew = coalesceReruns(() => this.#renew());

  constructor(deps: ServingCertificatesDeps) {
    this.#deps = deps;
  }

  get isLoaded(): boolean {
    return this.#pki !== undefined;
  }

  /** Throws an Error before the first `load`. */
  get pki(): Pki {
    if (!this.#pki) throw new Error('certificates are not loaded yet');
    return this.#pki;
  }

  /** Returns the PEM by which clients verify the API; undefined until the certificates are loaded. */
  trustBundle(): string | undefined {
    return this.#pki?.trustBundle;
  }

  /** Calls `listener` after the trust bundle was loaded or has changed. */
  onTrustChange(listener: () => void): void {
    this.#trustListeners.push(listener);
  }

  /** Loads or creates the certificates. `onRenewed` is called after each later renewal. */
  async load(onRenewed: OnRenewed): Promise<ServingTls> {
    this.#onRenewed = onRenewed;
    const pki = await this.#loadPki();
    const tls = await this.#tls(pki);
    await this.#deps.publishKeys?.();
    this.#use(pki);
    // An address that became known meanwhile found no certificate to renew.
    if (this.#namesNow().join() !== this.#usedNames.join())
      this.renew().catch((error: unknown) => this.#deps.log.error({ err: error }, RENEWAL_FAILED));
    return tls;
  }

  /** If a new authority cannot be published, the old one stays in use until the next renewal. */
  async #renew(): Promise<void> {
    const before = this.pki.trustBundle;
    const pki = await this.#loadPki();
    const tls = await this.#tls(pki);
    const isTrustChanged = pki.trustBundle !== before;
    if (isTrustChanged) await this.#deps.publishKeys?.();
    this.#use(pki);
    await this.#onRenewed(tls, isTrustChanged);
  }

  #use(pki: Pki): void {
    const before = this.#pki?.trustBundle;
    this.#pki = pki;
    if (pki.trustBundle !== before) for (const listener of this.#trustListeners) listener();
  }

  /** Ticket keys are not stored with the certificates, because backups must not contain them. */
  async #tls({ serving, authorities }: Pki): Promise<ServingTls> {
    const { settings, clock } = this.#deps;
    const keys = await loadTicketKeys(join(settings.data, 'ticket-keys'), clock.now());
    return { ...serving, clientAuthorities: authorities, tickets: { keys, seconds: SESSION_SECONDS } };
  }

  #namesNow(): string[] {
    const { settings, otherNames } = this.#deps;
    return servingNames([...(settings.advertise ? [settings.advertise] : []), ...(otherNames?.() ?? [])]);
  }

  async #loadPki(): Promise<Pki> {
    const { settings, clock } = this.#deps;
    const supplied = await readSupplied(settings);
    const now = clock.now();
    this.#usedNames = this.#namesNow();
    const pki = await loadPki(join(settings.data, 'pki'), this.#usedNames, now, supplied);
    this.#warnOfWrongTimes(pki, now);
    return pki;
  }

  /** The clock of this machine may be wrong now, or may have been wrong when a certificate was issued. */
  #warnOfWrongTimes({ isCaReissued, serving }: Pki, now: number): void {
    const { settings, log } = this.#deps;
    if (isCaReissued) {
      log.warn(
        { kubeconfig: kubeconfigPath(settings.data) },
        "the authority's certificate was not valid at this machine's time and was issued again for the same key. Hosts and join tokens are not affected; replace copies of the kubeconfig, and the kubeconfigs of users",
      );
    }
    const certificate = new X509Certificate(serving.cert);
    if (isInTime(certificate, now)) return;
    const { validFrom, validTo } = certificate;
    log.warn(
      { validFrom, validTo },
      "the certificate of --tls-cert-file is not valid at this machine's time: clients reject it; replace the certificate or set the clock",
    );
  }
}

export function coalesceReruns(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return work();
      });
    last = next;
    return next;
  };
}
