/** The controllers' queues, by client-go's names (`k8s.io/component-base/metrics/prometheus/workqueue`). */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Seconds. */
const BUCKETS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** What the workers tell of their queues. */
export interface QueueMetrics {
  /** A queue is there; `depth` answers how many keys wait in it. */
  began(name: string, depth: () => number): void;
  worked(name: string, durationMs: number): void;
  retried(name: string): void;
}

/** Answers who is to be told. */
export function queueMetrics(registry: Registry): QueueMetrics {
  const registers = [registry];
  const labelNames = ['name'];
  const depths = new Map<string, () => number>();
  new Gauge({
    ...{ name: 'workqueue_depth', help: 'Keys that wait in a queue.', labelNames, registers },
    collect() {
      for (const [name, depth] of depths) this.set({ name }, depth());
    },
  });
  const duration = new Histogram({
    ...{ name: 'workqueue_work_duration_seconds', help: 'How long looking at one key took.' },
    ...{ labelNames, buckets: BUCKETS, registers },
  });
  const retries = new Counter({
    ...{
      name: 'workqueue_retries_total',
      help: 'Looks that failed and are to be done again.',
      labelNames,
      registers,
    },
  });
  return {
    began: (name, depth) => void depths.set(name, depth),
    worked: (name, durationMs) => duration.observe({ name }, durationMs / 1000),
    retried: (name) => retries.inc({ name }),
  };
}
