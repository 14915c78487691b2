/** Metrics of store commits, named after etcd's. */
import { Counter, Histogram, type Registry } from 'prom-client';

/** In seconds. A commit waits for the disk. */
const BUCKETS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4];

/** Receives each commit of the store. */
export type CommitObserver = (commit: { writes: number; durationMs: number }) => void;

/** Registers the metric and returns the observer of writes that the full disk refused. */
export function refusedWrites(registry: Registry): (writes: number) => void {
  const refused = new Counter({
    ...{ name: 'everynode_store_refused_writes_total', help: 'Writes refused because the disk is full.' },
    registers: [registry],
  });
  return (writes) => refused.inc(writes);
}

/** Registers the metrics and returns the observer of commits. */
export function storeMetrics(registry: Registry): CommitObserver {
  const registers = [registry];
  const writes = new Counter({
    ...{ name: 'everynode_store_writes_total', help: 'Durable writes.', registers },
  });
  const duration = new Histogram({
    ...{ name: 'everynode_store_commit_duration_seconds', help: 'Duration of a commit, including fsync.' },
    ...{ buckets: BUCKETS, registers },
  });
  return (commit) => {
    writes.inc(commit.writes);
    duration.observe(commit.durationMs / 1000);
  };
}
