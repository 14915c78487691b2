/** Wakes readers after changes in etcd. */
import type { EtcdConnection } from './etcd-connection.js';
import type { EtcdRange } from './etcd-transport.js';

const REOPEN_MS = 500;

/**
 * Keeps a watch open while there are listeners. Events are not read: etcd 3.4 can lose or repeat them (etcd-io/etcd
 * tests/robustness), so they only wake readers.
 */
export class EtcdWatch {
  readonly #connection: EtcdConnection;
  readonly #ranges: readonly EtcdRange[];
  readonly #listeners = new Set<() => void>();
  #cancel: (() => void) | undefined;
  #isReopening = false;

  constructor(connection: EtcdConnection, ranges: readonly EtcdRange[]) {
    this.#connection = connection;
    this.#ranges = ranges;
    connection.onRotation(() => {
      if (!this.#cancel) return;
      this.#stop();
      this.#open();
    });
  }

  /** Returns a function that ends the calls. */
  add(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    if (!this.#cancel && !this.#isReopening) this.#open();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #open(): void {
    if (this.#connection.isClosed || this.#listeners.size === 0) return;
    const { endpoint, transport } = this.#connection;
    this.#cancel = transport.watch(endpoint, this.#ranges, {
      changed: () => this.#wake(),
      ended: (error) => {
        this.#cancel = undefined;
        this.#isReopening = true;
        this.#connection.rotate(endpoint, `watch: ${error.message}`);
        this.#connection.pause(REOPEN_MS).then(
          () => {
            this.#isReopening = false;
            if (!this.#cancel) this.#open();
          },
          () => undefined,
        );
      },
    });
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
