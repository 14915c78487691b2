/** Latency of small requests during a large operation. */
import { setTimeout as pause } from 'node:timers/promises';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { percentile } from '../bench-result.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';
import { mainThreadMs } from '../process-memory.js';

const BETWEEN_REQUESTS_MS = 20;

interface SmallRequests {
  /** 99th percentile of the times, ms. */
  p99Ms: number;
  /** The same, minus the CPU time that other processes took from the coordinator's core. */
  ownP99Ms: number;
  count: number;
}

/** Sends one request after another during `work`; the coordinator must not be restarted meanwhile. */
export async function duringWork(
  { api, coordinator }: HollowFleet,
  work: () => Promise<void>,
): Promise<SmallRequests> {
  const before = mainThreadMs(coordinator.pid);
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  const [times] = await Promise.all([latencies(api, () => isDone), working]);
  const after = mainThreadMs(coordinator.pid);
  const slowdown = 1 + (after.waited - before.waited) / (after.ran - before.ran);
  const p99Ms = percentile(times, 0.99);
  return { p99Ms, ownP99Ms: p99Ms / slowdown, count: times.length };
}

async function latencies(api: CoordinatorApi, isDone: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isDone() || times.length === 0) {
    const startMs = performance.now();
    await api.request('GET', '/api/v1/namespaces/default');
    times.push(performance.now() - startMs);
    await pause(BETWEEN_REQUESTS_MS);
  }
  return times;
}
