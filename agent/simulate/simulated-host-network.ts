/** The pretended network between hosts and the coordinator: cables that can be pulled. */
import { connect as connectTcp, Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ResumingTls } from '../link/resuming-tls.js';
import { DelayedStream } from './delayed-stream.js';

/** One host's cable. */
export class SimulatedHostNetwork {
  readonly #tls: Pick<ResumingTls, 'connect'>;
  readonly #clock: Clock;
  readonly #localAddress: string | undefined;
  #socket: TLSSocket | undefined;
  #isCut = false;
  #isBlocked = false;
  #delayMs = 0;

  /** `tls` may be shared by all hosts. `localAddress`: where its connections come from; absent = the kernel's choice. */
  constructor(tls: Pick<ResumingTls, 'connect'>, clock: Clock, localAddress?: string) {
    this.#tls = tls;
    this.#clock = clock;
    this.#localAddress = localAddress;
  }

  /** In the place of `tls.connect`. */
  connect(options: ConnectionOptions): Socket {
    if (this.#isCut || this.#isBlocked) return unreachable();
    const local = this.#localAddress ? { ...options, localAddress: this.#localAddress } : options;
    this.#socket = this.#tls.connect(this.#delayMs > 0 ? this.#delayed(local) : local);
    return this.#socket;
  }

  /** Pulls the cable: nothing arrives on either side any more, and neither is told. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#socket?.pause();
    this.#socket?.cork();
  }

  /** Plugs it in again; what was sent meanwhile arrives, if both sides still wait for it. */
  restore(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    this.#socket?.uncork();
    this.#socket?.resume();
  }

  /** While blocked, the host has no connection and gets none: something on it sees to that. The present one breaks. */
  block(isBlocked: boolean): void {
    if (isBlocked && !this.#isBlocked) this.#socket?.destroy();
    this.#isBlocked = isBlocked;
  }

  /** From now on each byte takes so long in each direction; the present connection ends. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
    this.#socket?.destroy();
  }

  #delayed(options: ConnectionOptions): ConnectionOptions {
    const { host = 'localhost', port = 443 } = options;
    const address = this.#localAddress ? { localAddress: this.#localAddress } : {};
    const wire = connectTcp({ host, port, ...address });
    return { ...options, socket: new DelayedStream(wire, this.#delayMs, this.#clock) };
  }
}

function unreachable(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
