/** Coordinators' connections to a simulated etcd, with faults per connection. */
import { EtcdCluster } from '../../../coordinator/store/replica/etcd/etcd-cluster.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import {
  EtcdCallError,
  type EtcdCalls,
  type EtcdRange,
  type EtcdTransport,
  type WatchEvents,
} from '../../../coordinator/store/replica/etcd/etcd-transport.js';
import type { ClusterStorage } from '../../../coordinator/store/replica/replicated-log.js';
import { isInRange, type MemoryEngine } from './memory-engine.js';

/** What happens to a request: it is answered, or its answer is lost and it has taken effect or not. */
type RequestFate = 'answered' | 'applied' | 'notApplied';

/** A watch that cannot be opened fails after this time. */
const WATCH_TIMEOUT_MS = 1_000;

interface OpenWatch {
  readonly ranges: readonly EtcdRange[];
  readonly events: WatchEvents;
}

/** The product's storage over a simulated etcd, for one coordinator. Everything happens at once unless a fault delays it. */
export class MemoryCluster {
  readonly storage: ClusterStorage;
  readonly faults: ConnectionFaults;

  constructor(engine: MemoryEngine, name: LogName) {
    const transport = new MemoryTransport(engine);
    this.faults = transport.faults;
    this.storage = new EtcdCluster(transport, name, engine.clock);
  }
}

/** Faults of one connection. */
export class ConnectionFaults {
  /** Time from a request to its effect, and again to the answer. */
  delayMs = 0;
  readonly #engine: MemoryEngine;
  readonly #leases: ReadonlySet<string>;
  readonly #endWatches: () => void;
  readonly #fates: RequestFate[] = [];
  readonly #held: (() => void)[] = [];
  #isCutOff = false;
  #isFrozen = false;

  constructor(engine: MemoryEngine, leases: ReadonlySet<string>, endWatches: () => void) {
    this.#engine = engine;
    this.#leases = leases;
    this.#endWatches = endWatches;
  }

  /** While true, no request arrives and no answer returns. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  set isCutOff(isCutOff: boolean) {
    this.#isCutOff = isCutOff;
    if (isCutOff) this.#endWatches();
  }

  /** While true, requests arrive but wait, like those to a member under SIGSTOP. They take effect when it ends. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  set isFrozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
    if (!isFrozen) for (const apply of this.#held.splice(0)) apply();
  }

  /** Decides about the next requests, one after another. Later ones are answered. */
  nextRequests(...fates: readonly RequestFate[]): void {
    this.#fates.push(...fates);
  }

  /** Ends the leases of this connection now, the leadership among them. */
  loseLeases(): void {
    for (const lease of this.#leases) this.#engine.revoke(lease);
  }

  takeFate(): RequestFate {
    return this.#fates.shift() ?? 'answered';
  }

  hold(apply: () => void): void {
    this.#held.push(apply);
  }
}

/** One connection to the simulated etcd. */
export class MemoryTransport implements EtcdTransport {
  readonly endpoints = ['memory'];
  readonly faults: ConnectionFaults;
  readonly #engine: MemoryEngine;
  readonly #leases = new Set<string>();
  readonly #watches = new Set<OpenWatch>();
  readonly #pending = new Set<(error: EtcdCallError) => void>();
  readonly #stopListening: () => void;

  constructor(engine: MemoryEngine) {
    this.#engine = engine;
    const endWatches = () => this.#endWatches();
    this.faults = new ConnectionFaults(engine, this.#leases, endWatches);
    this.#stopListening = engine.onChange((key) => this.#wake(key));
    engine.onQuorum(() => {
      if (!engine.hasQuorum) endWatches();
    });
  }

  call<Method extends keyof EtcdCalls>(
    _endpoint: number,
    method: Method,
    request: EtcdCalls[Method][0],
    timeoutMs: number,
  ): Promise<EtcdCalls[Method][1]> {
    const { clock } = this.#engine;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        timer.cancel();
        this.#pending.delete(fail);
        settle();
      };
      const fail = (error: EtcdCallError): void => end(() => reject(error));
      const timer = clock.after(timeoutMs, () => fail(new EtcdCallError('unknown', 'no answer in time')));
      this.#pending.add(fail);
      this.#send(method, request, (answer) =>
        end(() => {
          if (answer instanceof EtcdCallError) reject(answer);
          else resolve(answer);
        }),
      );
    });
  }

  watch(_endpoint: number, ranges: readonly EtcdRange[], events: WatchEvents): () => void {
    const watch: OpenWatch = { ranges, events };
    this.#watches.add(watch);
    if (this.#isReachable()) this.#engine.clock.after(0, () => this.#opened(watch));
    else this.#engine.clock.after(WATCH_TIMEOUT_MS, () => this.#opened(watch));
    return () => this.#watches.delete(watch);
  }

  close(): void {
    this.#stopListening();
    this.#watches.clear();
    for (const fail of [...this.#pending]) fail(new EtcdCallError('unknown', 'closed'));
  }

  /** Carries the request out unless a fault prevents it, and passes the answer on unless a fault loses it. */
  #send<Method extends keyof EtcdCalls>(
    method: Method,
    request: EtcdCalls[Method][0],
    answered: (answer: EtcdCalls[Method][1] | EtcdCallError) => void,
  ): void {
    const fate = this.faults.takeFate();
    if (fate === 'notApplied') return;
    const apply = (): void => {
      if (!this.#isReachable() && method !== 'Status') return;
      const answer = this.#apply(method, request);
      if (fate === 'answered')
        this.#after(this.faults.delayMs, () => {
          if (!this.faults.isCutOff) answered(answer);
        });
    };
    this.#after(this.faults.delayMs, () => {
      if (this.faults.isCutOff) return;
      if (this.faults.isFrozen) this.faults.hold(apply);
      else apply();
    });
  }

  #apply<Method extends keyof EtcdCalls>(
    method: Method,
    request: EtcdCalls[Method][0],
  ): EtcdCalls[Method][1] | EtcdCallError {
    try {
      const reply = this.#engine.apply(method, request);
      if ('ID' in reply && method === 'LeaseGrant') this.#leases.add(String(reply.ID));
      return reply;
    } catch (error) {
      if (error instanceof EtcdCallError) return error;
      throw error;
    }
  }

  #isReachable(): boolean {
    return !this.faults.isCutOff && this.#engine.hasQuorum;
  }

  #opened(watch: OpenWatch): void {
    if (!this.#isReachable()) this.#end(watch);
    else if (this.#watches.has(watch)) watch.events.changed();
  }

  #wake(key: string): void {
    for (const watch of this.#watches) {
      if (!watch.ranges.some((range) => isInRange(key, range))) continue;
      // Also without a delay, a listener never runs within the write of another connection.
      this.#engine.clock.after(this.faults.delayMs, () => {
        if (this.#watches.has(watch) && this.#isReachable() && !this.faults.isFrozen) watch.events.changed();
      });
    }
  }

  #endWatches(): void {
    for (const watch of [...this.#watches]) this.#end(watch);
  }

  #end(watch: OpenWatch): void {
    if (!this.#watches.delete(watch)) return;
    watch.events.ended(new EtcdCallError('unknown', 'the watch has ended'));
  }

  /** Without a delay, `action` runs before this returns. */
  #after(delayMs: number, action: () => void): void {
    if (delayMs > 0) this.#engine.clock.after(delayMs, action);
    else action();
  }
}
