/** The connection of a process to the simulated etcd. Answers and wake-ups reach the process only while it runs. */
import type {
  EtcdCalls,
  EtcdRange,
  EtcdTransport,
  WatchEvents,
} from '../../../coordinator/store/replica/etcd/etcd-transport.js';
import { type ConnectionFaults, MemoryTransport } from '../../harness/replica/memory-cluster.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import type { SimulatedProcess } from '../machines/simulated-process.js';

export class ProcessTransport implements EtcdTransport {
  readonly endpoints = ['memory'];
  readonly #process: SimulatedProcess;
  readonly #connection: MemoryTransport;

  constructor(engine: MemoryEngine, process: SimulatedProcess) {
    this.#process = process;
    this.#connection = new MemoryTransport(engine);
  }

  get faults(): ConnectionFaults {
    return this.#connection.faults;
  }

  call<Method extends keyof EtcdCalls>(
    endpoint: number,
    method: Method,
    request: EtcdCalls[Method][0],
    timeoutMs: number,
  ): Promise<EtcdCalls[Method][1]> {
    return new Promise((resolve, reject) => {
      if (this.#process.isOver) return;
      this.#connection.call(endpoint, method, request, timeoutMs).then(
        (reply) => this.#process.deliver(() => resolve(reply)),
        (error: unknown) => this.#process.deliver(() => reject(error)),
      );
    });
  }

  watch(endpoint: number, ranges: readonly EtcdRange[], { changed, ended }: WatchEvents): () => void {
    let isCancelled = false;
    const deliver = (event: () => void) => this.#process.deliver(() => isCancelled || event());
    const cancel = this.#connection.watch(endpoint, ranges, {
      changed: () => deliver(changed),
      ended: (error) => deliver(() => ended(error)),
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Requests that have been sent still take effect. */
  close(): void {
    this.#connection.close();
  }
}
