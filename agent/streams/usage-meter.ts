/** Serves `kubectl top`: the CPU and memory usage of the host and its containers, measured on demand. */
import type { HostUsage, ResourceUse } from '../../shared/link/messages/link-messages.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ContainerUsage, RuntimeDriver } from '../runtime/runtime-driver.js';

/** CPU time since the boot, and current memory. */
interface NodeUsage {
  cpuNanos: number;
  memoryBytes: number;
}

/** One reading of all counters. */
interface Sample {
  /** `timeMs` is the wall clock's, `at` the monotonic clock's. Both in ms. */
  timeMs: number;
  at: number;
  node: NodeUsage;
  containers: ContainerUsage[];
}

/** CPU usage is a rate between two readings. A shorter window is imprecise, and a longer one says little about now. */
const MIN_WINDOW_MS = 1_000;
const MAX_WINDOW_MS = 60_000;

interface UsageMeterDeps {
  driver: Pick<RuntimeDriver, 'usage'>;
  readNode: () => NodeUsage;
  clock: Clock;
  /** The host's wall clock, for reported times. */
  wallClock: Clock;
}

export class UsageMeter {
  readonly #deps: UsageMeterDeps;
  #last: Sample | undefined;
  #inProgress: Promise<HostUsage> | undefined;

  constructor(deps: UsageMeterDeps) {
    this.#deps = deps;
  }

  /** Returns the usage since the last call, or of one second. Concurrent calls share the result. */
  measure(): Promise<HostUsage> {
    this.#inProgress ??= this.#measure().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  }

  async #measure(): Promise<HostUsage> {
    const age = this.#last ? this.#deps.clock.monotonic() - this.#last.at : Number.POSITIVE_INFINITY;
    if (age > MAX_WINDOW_MS) this.#last = await this.#sample();
    if (age > MAX_WINDOW_MS || age < MIN_WINDOW_MS) await this.#wait(MIN_WINDOW_MS);
    const before = this.#last as Sample;
    const now = await this.#sample();
    this.#last = now;
    return usageBetween(before, now);
  }

  async #sample(): Promise<Sample> {
    const { driver, readNode, clock, wallClock } = this.#deps;
    const containers = await driver.usage();
    return { timeMs: wallClock.now(), at: clock.monotonic(), node: readNode(), containers };
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#deps.clock.after(ms, resolve));
  }
}

/** Computes rates between two samples. Like upstream, leaves out containers that started in between. */
export function usageBetween(before: Sample, now: Sample): HostUsage {
  const windowMs = Math.max(Math.round(now.at - before.at), 1);
  const useOf = (was: NodeUsage, is: NodeUsage): ResourceUse => ({
    timeMs: Math.round(now.timeMs),
    windowMs,
    cpuMicro: Math.max(Math.round((is.cpuNanos - was.cpuNanos) / windowMs), 0),
    memoryBytes: Math.max(Math.round(is.memoryBytes), 0),
  });
  const earlier = new Map(before.containers.map((container) => [container.id, container]));
  const pods = new Map<string, HostUsage['pods'][number]>();
  for (const container of now.containers) {
    const was = earlier.get(container.id);
    if (!was) continue;
    const pod = pods.get(container.podUid) ?? { uid: container.podUid, containers: [] };
    pod.containers.push({ name: container.container, ...useOf(was, container) });
    pods.set(container.podUid, pod);
  }
  return { node: useOf(before.node, now.node), pods: [...pods.values()] };
}
