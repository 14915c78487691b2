/** The certificate of the kubelet's port: requested over the link, stored, and renewed. */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { ServingIssued } from '../../shared/link/messages/link-messages.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { generateKeyPem } from '../../shared/process/files/private-key.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { LinkServingHandler } from '../link/link-delegate.js';
import { certificateRequest, publicKeyHashOf } from './host-certificate-request.js';
import type { HostIdentity } from './host-identity.js';

const FILE = 'kubelet-serving.json';
/** Interval of checks for a new address, a new authority, or an expiry. */
const CHECK_MS = 60 * 60_000;
const RETRY_MS = 60_000;
/** Part of the lifetime after which a certificate is renewed. */
const RENEW_AFTER = 0.8;

interface ServingCertificateOptions {
  identity: Pick<HostIdentity, 'node' | 'ca'>;
  dataDir: string;
  /** Returns the host's addresses. */
  addresses: () => string[];
  /** Called with the stored certificate at the start, and with each new one. */
  onCertificate: (identity: StoredServing) => void;
  clock: Clock;
  log: Logger;
}

/** `addresses` and `ca`: those of the request. If they change, the certificate is requested again. */
interface StoredServing {
  key: string;
  certificate: string;
  clientCa: string;
  addresses: string[];
  ca: string;
}

type SendRequest = Parameters<LinkServingHandler['onLive']>[1];

export class ServingCertificate implements LinkServingHandler {
  readonly #options: ServingCertificateOptions;
  #current: StoredServing | undefined;
  #requested: Pick<StoredServing, 'key' | 'addresses' | 'ca'> | undefined;
  #timer: Timer | undefined;
  #send: SendRequest | undefined;
  /** The hub's clock minus the host's, which may be wrong. */
  #offsetMs = 0;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
  }

  /** Reads the stored certificate. A damaged file is ignored: the next link replaces it. */
  async start(): Promise<void> {
    const { dataDir, log, onCertificate } = this.#options;
    try {
      const text = await readIfPresent(join(dataDir, FILE));
      if (text === undefined) return;
      const stored = JSON.parse(text) as StoredServing;
      checkServing(stored);
      this.#current = stored;
      onCertificate(stored);
    } catch (error) {
      log.warn({ err: error }, "stored certificate of the kubelet's port ignored");
    }
  }

  stop(): void {
    this.#timer?.cancel();
    this.#send = undefined;
  }

  onLive(serverTimeMs: number, send: SendRequest): void {
    this.#offsetMs = serverTimeMs - this.#options.clock.now();
    this.#send = send;
    this.#check();
  }

  onLost(): void {
    this.stop();
  }

  onIssued({ certificate, clientCa }: ServingIssued): void {
    const requested = this.#requested;
    if (!requested) return;
    this.#accept({ ...requested, certificate, clientCa }).then(
      () => {
        if (this.#requested === requested) this.#requested = undefined;
      },
      // Also the late answer to an earlier request, whose key is no longer known. The present request stays open.
      (error: unknown) =>
        this.#options.log.warn({ err: error }, "certificate of the kubelet's port not accepted"),
    );
  }

  async #accept(issued: StoredServing): Promise<void> {
    const { dataDir, onCertificate, log } = this.#options;
    checkServing(issued);
    this.#current = issued;
    onCertificate(issued);
    await writePrivateFile(join(dataDir, FILE), `${JSON.stringify(issued)}\n`);
    log.info("the kubelet's port has a new certificate");
  }

  #check(): void {
    const { clock } = this.#options;
    const send = this.#send;
    if (!send) return;
    const isDue = this.#isDue();
    this.#timer?.cancel();
    this.#timer = clock.after(isDue ? RETRY_MS : CHECK_MS, () => this.#check());
    if (isDue) void this.#request(send);
  }

  #isDue(): boolean {
    const { identity, addresses, clock } = this.#options;
    const current = this.#current;
    if (!current || current.ca !== identity.ca) return true;
    if (addresses().some((address) => !current.addresses.includes(address))) return true;
    const { validFrom, validTo } = new X509Certificate(current.certificate);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return clock.now() + this.#offsetMs >= from + (to - from) * RENEW_AFTER;
  }

  async #request(send: SendRequest): Promise<void> {
    const { identity, log, addresses } = this.#options;
    try {
      const requested = { key: await generateKeyPem(), addresses: [...addresses()], ca: identity.ca };
      const csr = await certificateRequest(requested.key, identity.node);
      this.#requested = requested;
      send({ csr, addresses: requested.addresses });
    } catch (error) {
      log.warn({ err: error }, "certificate of the kubelet's port not requested");
    }
  }
}

/** Throws an Error if the certificate and its key do not match. */
function checkServing({ key, certificate, clientCa }: StoredServing): void {
  const read = new X509Certificate(certificate);
  new X509Certificate(clientCa);
  if (publicKeyHash(read) !== publicKeyHashOf(key)) throw new Error('the certificate is for another key');
}
