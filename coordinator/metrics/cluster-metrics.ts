/** Metrics of several coordinators, of their log and of etcd. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import type { CoordinatorSource } from '../api/ports.js';

/** In seconds. An append waits for the disks of two etcd members. */
const BUCKETS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8];

/** Receives the appends of the leader. */
export interface AppendObserver {
  /** Duration of an append, including the answer of etcd. */
  onAppend(durationMs: number): void;
  onRecord(index: number, bytes: number): void;
}

export function appendMetrics(registry: Registry): AppendObserver {
  const registers = [registry];
  const duration = new Histogram({
    ...{
      name: 'everynode_log_append_duration_seconds',
      help: 'Duration of an append to the replicated log.',
    },
    ...{ buckets: BUCKETS, registers },
  });
  const bytes = new Counter({
    ...{
      name: 'everynode_log_appended_bytes_total',
      help: 'Bytes appended to the replicated log.',
      registers,
    },
  });
  return {
    onAppend: (durationMs) => duration.observe(durationMs / 1_000),
    onRecord: (_index, size) => bytes.inc(size),
  };
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Registers gauges of what the leader sees. They have no values while the coordinators are not known. */
export function addClusterMetrics(registry: Registry, cluster: CoordinatorSource): void {
  const gauge = (
    options: { name: string; help: string; labelNames?: string[] },
    samplesOf: (coordinator: Coordinator) => readonly Sample[],
  ) =>
    new Gauge({
      ...options,
      registers: [registry],
      async collect() {
        // All gauges of a scrape share one read of the cluster.
        const coordinators = await cluster.list().catch(() => []);
        this.reset();
        if (!options.labelNames) this.remove();
        for (const [labels, value] of coordinators.flatMap(samplesOf)) this.set(labels, value);
      },
    });
  addCoordinatorGauges(gauge);
  addEtcdGauges(gauge);
}

type AddGauge = (
  options: { name: string; help: string; labelNames?: string[] },
  samplesOf: (coordinator: Coordinator) => readonly Sample[],
) => unknown;

function addCoordinatorGauges(gauge: AddGauge): void {
  gauge(
    {
      name: 'everynode_coordinator_role',
      help: '1 for the role that the coordinator has: Leader, Follower, Impeded or Down.',
      labelNames: ['coordinator', 'role'],
    },
    ({ metadata: { name: coordinator }, status: { role } }) => [[{ coordinator, role }, 1]],
  );
  gauge({ name: 'everynode_coordinator_term', help: 'Term of the leader.' }, ({ status: { term } }) =>
    term === undefined ? [] : [[{}, term]],
  );
  gauge(
    {
      name: 'everynode_coordinator_lag_records',
      help: "Log records that the coordinator's database lacks.",
      labelNames: ['coordinator'],
    },
    ({ metadata: { name: coordinator }, status: { lagRecords } }) =>
      lagRecords === undefined ? [] : [[{ coordinator }, lagRecords]],
  );
  gauge(
    { name: 'everynode_log_records', help: 'Records in the replicated log.' },
    ({ status: { logRecords } }) => (logRecords === undefined ? [] : [[{}, logRecords]]),
  );
}

function addEtcdGauges(gauge: AddGauge): void {
  gauge(
    {
      name: 'everynode_etcd_healthy',
      help: '1 if the etcd member answers and has no alarm, else 0.',
      labelNames: ['endpoint'],
    },
    ({ status: { etcd = [] } }) =>
      etcd.map(({ endpoint, version, alarms = [] }) => [
        { endpoint },
        version !== undefined && alarms.length === 0 ? 1 : 0,
      ]),
  );
  gauge(
    {
      name: 'everynode_etcd_db_size_bytes',
      help: 'Size of the database of the etcd member.',
      labelNames: ['endpoint'],
    },
    ({ status: { etcd = [] } }) =>
      etcd.flatMap(({ endpoint, dbBytes }) => (dbBytes === undefined ? [] : [[{ endpoint }, dbBytes]])),
  );
}
