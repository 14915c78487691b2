/** Simulates the network between a host and the coordinator. */
import { connect as connectTcp, Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ResumingTls } from '../link/resuming-tls.js';
import { DelayedStream } from './delayed-stream.js';

/** The network connection of one host. */
export class SimulatedHostNetwork {
  readonly #tls: Pick<ResumingTls, 'connect'>;
  readonly #clock: Clock;
  readonly #localAddress: string | undefined;
  #socket: TLSSocket | undefined;
  #isCut = false;
  #isBlocked = false;
  #delayMs = 0;

  /** Hosts may share `tls`. `localAddress` is the source address of connections. By default the kernel chooses it. */
  constructor(tls: Pick<ResumingTls, 'connect'>, clock: Clock, localAddress?: string) {
    this.#tls = tls;
    this.#clock = clock;
    this.#localAddress = localAddress;
  }

  /** Replaces `tls.connect`. */
  connect(options: ConnectionOptions): Socket {
    if (this.#isCut || this.#isBlocked) return unreachable();
    const local = this.#localAddress ? { ...options, localAddress: this.#localAddress } : options;
    this.#socket = this.#tls.connect(this.#delayMs > 0 ? this.#delayed(local) : local);
    return this.#socket;
  }

  /** Drops all traffic in both directions without closing the connection, as a pulled cable does. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#socket?.pause();
    this.#socket?.cork();
  }

  /** Ends `cut`. Traffic that was sent meanwhile arrives if both sides still wait for it. */
  restore(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    this.#socket?.uncork();
    this.#socket?.resume();
  }

  /** Breaks the connection and refuses new ones, as a firewall on the host does. */
  block(isBlocked: boolean): void {
    if (isBlocked && !this.#isBlocked) this.#socket?.destroy();
    this.#isBlocked = isBlocked;
  }

  /** Delays each byte in each direction. Closes the current connection, so that the delay applies to the next. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
    this.#socket?.destroy();
  }

  #delayed(options: ConnectionOptions): ConnectionOptions {
    const { host = 'localhost', port = 443 } = options;
    const address = this.#localAddress ? { localAddress: this.#localAddress } : {};
    const connection = connectTcp({ host, port, ...address });
    return { ...options, socket: new DelayedStream(connection, this.#delayMs, this.#clock) };
  }
}

function unreachable(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
