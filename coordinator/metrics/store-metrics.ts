/** Commits of the store, by etcd's idea of names. */
import { Counter, Histogram, type Registry } from 'prom-client';

/** Seconds. A commit waits for the disk. */
const BUCKETS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4];

/** What the store tells of each commit. */
export type CommitObserver = (commit: { writes: number; durationMs: number }) => void;

/** Answers who is to be told of writes that found no room. */
export function refusedWrites(registry: Registry): (writes: number) => void {
  const refused = new Counter({
    ...{ name: 'everynode_store_refused_writes_total', help: 'Writes that found no room on the disk.' },
    registers: [registry],
  });
  return (writes) => refused.inc(writes);
}

/** Answers who is to be told of each commit. */
export function storeMetrics(registry: Registry): CommitObserver {
  const registers = [registry];
  const writes = new Counter({
    ...{ name: 'everynode_store_writes_total', help: 'Writes that are durable.', registers },
  });
  const duration = new Histogram({
    ...{ name: 'everynode_store_commit_duration_seconds', help: 'Time of a commit, with its fsync.' },
    ...{ buckets: BUCKETS, registers },
  });
  return (commit) => {
    writes.inc(commit.writes);
    duration.observe(commit.durationMs / 1000);
  };
}
