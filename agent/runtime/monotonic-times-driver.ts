/** Converts a container engine's times, which are wall clock times, to the host's monotonic clock. */
import type { Clock } from '../../shared/process/time/clock.js';
import { overrideDriver } from './override-driver.js';
import type { ObservedContainer, RuntimeDriver } from './runtime-driver.js';

/** Smaller differences between the clocks are measurement noise, which must not change times. */
const STEP_MS = 1000;

/**
 * Returns `driver` with container times that do not jump with the wall clock. Otherwise a host that boots in 1970 and sets
 * its clock later would take its containers for decades old. `uptimeMs` returns the time since the host's boot: no running
 * container is older. The `sinceMs` of a log request stays a wall clock time, like the timestamps of the log's lines.
 */
export function withMonotonicTimes(
  driver: RuntimeDriver,
  monotonic: Clock,
  wall: Clock,
  uptimeMs = () => Number.POSITIVE_INFINITY,
): RuntimeDriver {
  const times = new ContainerTimes(monotonic, wall, uptimeMs);
  return overrideDriver(driver, {
    list: async () => {
      const containers = await driver.list();
      times.forgetAllBut(containers);
      return times.convert(containers);
    },
    inspectPod: async (podUid) => times.convert(await driver.inspectPod(podUid)),
  });
}

class ContainerTimes {
  readonly #monotonic: Clock;
  readonly #wall: Clock;
  readonly #uptimeMs: () => number;
  /** By container: the monotonic time for each time of the engine. A step of the wall clock does not change it. */
  #converted = new Map<string, Map<number, number>>();
  #offsetMs = 0;

  constructor(monotonic: Clock, wall: Clock, uptimeMs: () => number) {
    this.#monotonic = monotonic;
    this.#wall = wall;
    this.#uptimeMs = uptimeMs;
  }

  forgetAllBut(containers: readonly ObservedContainer[]): void {
    const ids = new Set(containers.map(({ id }) => id));
    this.#converted = new Map([...this.#converted].filter(([id]) => ids.has(id)));
  }

  convert(containers: readonly ObservedContainer[]): ObservedContainer[] {
    const offsetMs = this.#monotonic.now() - this.#wall.now();
    if (Math.abs(offsetMs - this.#offsetMs) >= STEP_MS) this.#offsetMs = offsetMs;
    return containers.map((container) => this.#convertOne(container));
  }

  #convertOne(container: ObservedContainer): ObservedContainer {
    const { id, state, createdAt, startedAt, finishedAt } = container;
    const converted = this.#converted.get(id) ?? new Map<number, number>();
    this.#converted.set(id, converted);
    const oldest = state === 'running' ? this.#monotonic.now() - this.#uptimeMs() : Number.NEGATIVE_INFINITY;
    const time = (engineTime: number, earliest: number): number => {
      const known = converted.get(engineTime) ?? this.#firstConversion(engineTime, earliest);
      converted.set(engineTime, known);
      return known;
    };
    return {
      ...container,
      createdAt: time(createdAt, oldest),
      ...(startedAt === undefined ? {} : { startedAt: time(startedAt, oldest) }),
      ...(finishedAt === undefined ? {} : { finishedAt: time(finishedAt, Number.NEGATIVE_INFINITY) }),
    };
  }

  /** A time from before the wall clock was set is unknown. It is only certain that it has passed, and is not before `earliest`. */
  #firstConversion(engineTime: number, earliest: number): number {
    const now = this.#monotonic.now();
    const time = Math.max(engineTime + this.#offsetMs, earliest);
    return time > now + STEP_MS ? now : time;
  }
}
