/**
 * Measures the host and its containers for the kubelet's pages: on demand, and shared by all callers of a second. An
 * agent without callers measures nothing.
 */
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { HostFigures } from '../node/host-figures.js';
import type { ContainerStorage, ContainerUsage, RuntimeDriver } from '../runtime/runtime-driver.js';

/** One reading of all counters. `timeMs` is the wall clock's, `at` the monotonic clock's. Both in ms. */
export interface Reading {
  timeMs: number;
  at: number;
  host: HostFigures;
  containers: ContainerUsage[];
}

/** Two readings, for rates. */
export interface ReadingPair {
  before: Reading;
  now: Reading;
}

/** Disk usage of all Pods, in bytes. */
export interface StorageReading {
  containers: readonly ContainerStorage[];
  /** By uid of the Pod and name of the volume. */
  volumes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

const NO_STORAGE: StorageReading = { containers: [], volumes: new Map() };

/** Callers within this time share a reading. It is also the shortest window of a rate. */
const SHARED_MS = 1_000;
/** A longer window says little about the present. Scrapes are up to two minutes apart. */
const MAX_WINDOW_MS = 150_000;
/** Measuring storage walks through files: at most once in this time, and for at most a hundredth of the time. */
const STORAGE_PERIOD_MS = 60_000;
const STORAGE_PERIODS_A_MEASUREMENT = 100;
/** A caller waits this long for the first measurement of storage. Prometheus gives up after 10 s. */
const STORAGE_TIMEOUT_MS = 5_000;

interface KubeletReadingsDeps {
  driver: Pick<RuntimeDriver, 'usage' | 'storage'>;
  readHost: () => Promise<HostFigures>;
  volumes: { bytesByVolume(pod: Pod): Promise<Map<string, number>> };
  pods: () => Pod[];
  clock: Clock;
  /** The host's wall clock, for reported times. */
  wallClock: Pick<Clock, 'now'>;
}

export class KubeletReadings {
  readonly #deps: KubeletReadingsDeps;
  #previous: Reading | undefined;
  #last: Reading | undefined;
  #inProgress: Promise<Reading> | undefined;
  #storage: StorageReading = NO_STORAGE;
  #storageDueAt = Number.NEGATIVE_INFINITY;
  #measuringStorage: Promise<void> | undefined;

  constructor(deps: KubeletReadingsDeps) {
    this.#deps = deps;
  }

  /** Returns a reading that is at most a second old. Rejects with `RuntimeError` if the engine does not respond. */
  async read(): Promise<Reading> {
    if (this.#last && this.#deps.clock.monotonic() - this.#last.at < SHARED_MS) return this.#last;
    this.#inProgress ??= this.#read().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  }

  /** Returns a reading and an earlier one. Waits up to a second if there is none. Rejects like `read`. */
  async readPair(): Promise<ReadingPair> {
    const now = await this.read();
    const before = this.#previous;
    if (before && isWindow(now.at - before.at)) return { before, now };
    await this.#wait(SHARED_MS);
    return { before: now, now: await this.read() };
  }

  /** Returns the latest disk usage. It is up to a minute old, or older if measuring takes long. */
  async readStorage(): Promise<StorageReading> {
    if (this.#deps.clock.monotonic() >= this.#storageDueAt) {
      this.#measuringStorage ??= this.#measureStorage().finally(() => {
        this.#measuringStorage = undefined;
      });
    }
    if (this.#measuringStorage && this.#storage === NO_STORAGE)
      await Promise.race([this.#measuringStorage, this.#wait(STORAGE_TIMEOUT_MS)]);
    return this.#storage;
  }

  async #read(): Promise<Reading> {
    const { driver, readHost, clock, wallClock } = this.#deps;
    const [host, containers] = await Promise.all([readHost(), driver.usage(true)]);
    const reading = { timeMs: Math.round(wallClock.now()), at: clock.monotonic(), host, containers };
    this.#previous = this.#last;
    this.#last = reading;
    return reading;
  }

  /** Keeps the previous figures if the measurement fails. */
  async #measureStorage(): Promise<void> {
    const { driver, volumes, pods, clock } = this.#deps;
    const startedAt = clock.monotonic();
    try {
      const containers = await driver.storage();
      const byPod = new Map<string, Map<string, number>>();
      for (const pod of pods()) byPod.set(pod.metadata.uid ?? '', await volumes.bytesByVolume(pod));
      this.#storage = { containers, volumes: byPod };
    } catch {
      // The engine is down, or a file was removed meanwhile.
    }
    const tookMs = clock.monotonic() - startedAt;
    this.#storageDueAt =
      clock.monotonic() + Math.max(STORAGE_PERIOD_MS, tookMs * STORAGE_PERIODS_A_MEASUREMENT);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#deps.clock.after(ms, resolve));
  }
}

function isWindow(ms: number): boolean {
  return ms >= SHARED_MS && ms <= MAX_WINDOW_MS;
}
