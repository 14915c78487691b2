/**
 * Metrics of the controllers' queues, with client-go's names (`k8s.io/component-base/metrics/prometheus/workqueue`).
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** In seconds. */
const BUCKETS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

interface Queue {
  readonly size: number;
  /** Processing time so far of each key in progress, in ms. */
  unfinished(): number[];
}

export interface QueueMetrics {
  /** Returns the observer for the queue with this name. */
  observer(name: string): { added(): void; waited(durationMs: number): void };
  queueCreated(name: string, queue: Queue): void;
  reconciled(name: string, durationMs: number): void;
  retried(name: string): void;
}

/** Registers the metrics and returns their observers. */
export function queueMetrics(registry: Registry): QueueMetrics {
  const registers = [registry];
  const labelNames = ['name'];
  const queues = new Map<string, Queue>();
  const gauge = (name: string, help: string, value: (queue: Queue) => number) =>
    new Gauge({
      ...{ name, help, labelNames, registers },
      collect() {
        for (const [queue, state] of queues) this.set({ name: queue }, value(state));
      },
    });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames, buckets: BUCKETS, registers });
  gauge('workqueue_depth', 'Waiting keys in a queue.', ({ size }) => size);
  gauge(
    'workqueue_unfinished_work_seconds',
    'Total processing time so far of all unfinished keys.',
    (queue) => queue.unfinished().reduce((sum, ms) => sum + ms / 1000, 0),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Processing time so far of the oldest unfinished key.',
    (queue) => Math.max(0, ...queue.unfinished()) / 1000,
  );
  const adds = counter('workqueue_adds_total', 'Keys added to a queue.');
  const retries = counter('workqueue_retries_total', 'Failed reconciles that will be retried.');
  const waits = histogram('workqueue_queue_duration_seconds', 'Waiting time of a key in the queue.');
  const works = histogram('workqueue_work_duration_seconds', 'Processing time of a key.');
  return {
    observer: (name) => ({
      added: () => adds.inc({ name }),
      waited: (durationMs) => waits.observe({ name }, durationMs / 1000),
    }),
    queueCreated: (name, queue) => void queues.set(name, queue),
    reconciled: (name, durationMs) => works.observe({ name }, durationMs / 1000),
    retried: (name) => retries.inc({ name }),
  };
}
