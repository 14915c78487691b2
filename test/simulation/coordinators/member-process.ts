/** One process of a coordinator: its clock, and its connection to etcd. It can be killed, and stopped for a time (SIGSTOP). */
import type {
  EtcdCalls,
  EtcdRange,
  EtcdTransport,
  WatchEvents,
} from '../../../coordinator/store/replica/etcd/etcd-transport.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { type ConnectionFaults, MemoryTransport } from '../../harness/replica/memory-cluster.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { START_MS } from '../machines/program-lifetime.js';
import type { Timeline } from '../machines/timeline.js';

export class MemberProcess {
  readonly clock: Clock;
  readonly #held: (() => void)[] = [];
  #isStopped = false;
  #isOver = false;

  /** `wall.offsetMs`: error of the machine's clock. */
  constructor(timeline: Timeline, wall: { readonly offsetMs: number }) {
    const after: Clock['after'] = (delayMs, action) => {
      let isCancelled = false;
      const run = () => this.deliver(() => isCancelled || action());
      const timer = timeline.after(delayMs, run);
      return {
        cancel: () => {
          isCancelled = true;
          timer.cancel();
        },
      };
    };
    this.clock = {
      now: () => START_MS + Math.round(timeline.now) + wall.offsetMs,
      monotonic: () => timeline.now,
      after,
      yieldToEventLoop: () => new Promise((resolve) => after(0, resolve)),
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing that the program still does has any effect from now on. */
  end(): void {
    this.#isOver = true;
    this.#held.length = 0;
  }

  /** The process executes nothing until `resume`. */
  suspend(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
    while (!this.#isStopped && this.#held.length > 0) this.#held.shift()?.();
  }

  /** Runs the action in the process: later if it is stopped, never if it has ended. */
  deliver(action: () => void): void {
    if (this.#isOver) return;
    if (this.#isStopped) this.#held.push(action);
    else action();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }
}

/** The connection of a process. Answers and wake-ups reach the process only while it runs. */
export class ProcessTransport implements EtcdTransport {
  readonly endpoints = ['memory'];
  readonly #process: MemberProcess;
  readonly #connection: MemoryTransport;

  constructor(engine: MemoryEngine, process: MemberProcess) {
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
