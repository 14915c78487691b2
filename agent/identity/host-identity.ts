/** The host's current identity. The link reads it at each connect; changes are on disk before they take effect. */
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { OpenTunnel } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import type { CoordinatorAddresses } from '../link/coordinator-addresses.js';
import type { LinkTarget } from '../link/link-target.js';
import { ResumingTls } from '../link/resuming-tls.js';
import { connectTrusting } from '../link/server-trust.js';
import { writeIdentity } from './identity-file.js';
import type { Enrolment } from './join-coordinator.js';

export class HostIdentity implements LinkTarget {
  readonly addresses: CoordinatorAddresses;
  /** Opens the tunnel through an HTTP proxy; undefined: this host needs none. */
  readonly tunnel: OpenTunnel | undefined;
  readonly #dataDir: string;
  readonly #tls = new ResumingTls(undefined, (options) => connectTrusting(options, this));
  #enrolment: Enrolment;
  #bearer: string | undefined;

  constructor(addresses: CoordinatorAddresses, dataDir: string, enrolment: Enrolment, tunnel?: OpenTunnel) {
    this.addresses = addresses;
    this.tunnel = tunnel;
    this.#dataDir = dataDir;
    this.#enrolment = enrolment;
  }

  readonly connect = (options: ConnectionOptions): Socket => this.#tls.connect(options);

  get url(): string {
    return this.addresses.linkUrl;
  }

  get enrolment(): Readonly<Enrolment> {
    return this.#enrolment;
  }

  get ca(): string {
    return this.#enrolment.ca;
  }

  get key(): string {
    return this.#enrolment.key;
  }

  get certificate(): string | undefined {
    return this.#enrolment.certificate;
  }

  get clusterUID(): string {
    return this.#enrolment.clusterUID;
  }

  get node(): string {
    return this.#enrolment.node;
  }

  get joinMac(): string | undefined {
    return this.#enrolment.joinMac;
  }

  /** Bearer token of this link for HTTPS; undefined if the coordinator sees the certificate. */
  get bearer(): string | undefined {
    return this.#bearer;
  }

  onWelcome(bearer: string | undefined): void {
    this.#bearer = bearer;
  }

  /** Resolves when the change is on disk. Rejects with the system's error and then changes nothing. */
  async update(change: Partial<Enrolment>): Promise<void> {
    const next = { ...this.#enrolment, ...change };
    await writeIdentity(this.#dataDir, next);
    this.#enrolment = next;
  }
}
