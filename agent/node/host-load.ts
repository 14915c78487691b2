/** The host's load, for heartbeats. */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { HostCounters } from './host-counters.js';

interface HostLoadDeps {
  /** Throws when the kernel does not report them. */
  counters: () => HostCounters;
  /** Cores of the whole host. */
  cpus: number;
  memoryBytes: number;
  /** Returns the used fraction of the disk, in [0, 1]. */
  diskUse: () => Promise<number>;
  clock: Clock;
}

const NANOS_PER_MS = 1_000_000;

export class HostLoad {
  readonly #deps: HostLoadDeps;
  #last: { at: number; cpuNanos: number } | undefined;
  /** The latest result. A heartbeat must not wait for a file system that hangs. */
  #disk: number | undefined;
  #isAsking = false;

  constructor(deps: HostLoadDeps) {
    this.#deps = deps;
    this.read();
  }

  /** Returns the load since the last call. */
  read(): HeartbeatReading {
    this.#askDisk();
    const { counters, cpus, memoryBytes, clock } = this.#deps;
    const disk = this.#disk === undefined ? {} : { disk: this.#disk };
    try {
      const { cpuNanos, memoryBytes: used } = counters();
      const last = this.#last;
      this.#last = { at: clock.monotonic(), cpuNanos };
      const ms = last ? this.#last.at - last.at : 0;
      const cpu = last && ms > 0 ? (cpuNanos - last.cpuNanos) / NANOS_PER_MS / ms / cpus : undefined;
      return { ...(cpu === undefined ? {} : { cpu }), memory: used / memoryBytes, ...disk };
    } catch {
      return disk;
    }
  }

  #askDisk(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#deps
      .diskUse()
      .then(
        (use) => {
          this.#disk = use;
        },
        () => {
          this.#disk = undefined;
        },
      )
      .finally(() => {
        this.#isAsking = false;
      });
  }
}
