/** How busy this host is, for its heartbeats: counters of the kernel and one question to the file system. */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { HostCounters } from './host-counters.js';

interface HostLoadDeps {
  /** Throws where the kernel does not tell. */
  counters: () => HostCounters;
  /** Of the whole host. */
  cpus: number;
  memoryBytes: number;
  /** How much of the disk is in use, in [0, 1]. */
  diskUse: () => Promise<number>;
  clock: Clock;
}

const NANOS_A_MS = 1_000_000;

export class HostLoad {
  readonly #parts: HostLoadDeps;
  #last: { at: number; cpuNanos: number } | undefined;
  /** As it was when it was asked for last: a file system that hangs holds up no heartbeat. */
  #disk: number | undefined;
  #isAsking = false;

  constructor(parts: HostLoadDeps) {
    this.#parts = parts;
    this.read();
  }

  /** Since the last call. */
  read(): HeartbeatReading {
    this.#askDisk();
    const { counters, cpus, memoryBytes, clock } = this.#parts;
    const disk = this.#disk === undefined ? {} : { disk: this.#disk };
    try {
      const { cpuNanos, memoryBytes: used } = counters();
      const last = this.#last;
      this.#last = { at: clock.monotonic(), cpuNanos };
      const ms = last ? this.#last.at - last.at : 0;
      const cpu = last && ms > 0 ? (cpuNanos - last.cpuNanos) / NANOS_A_MS / ms / cpus : undefined;
      return { ...(cpu === undefined ? {} : { cpu }), memory: used / memoryBytes, ...disk };
    } catch {
      return disk;
    }
  }

  #askDisk(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#parts
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
