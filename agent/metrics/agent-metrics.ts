/** Collects the agent's metrics when Prometheus reads them. */
import type { AgentMetricValues } from './agent-metrics-text.js';
import { EngineOperationCounts } from './engine-operation-counts.js';
import { PodCounts } from './pod-counts.js';
import { ProbeCounts } from './probe-counts.js';

/** Values that other parts of the agent provide. */
export type AgentMetricInputs = Omit<
  AgentMetricValues,
  'runningPods' | 'containers' | 'operations' | 'cpuSeconds' | 'startTime'
>;

export class AgentMetrics {
  readonly pods = new PodCounts();
  readonly probes = new ProbeCounts();
  readonly operations = new EngineOperationCounts();
  readonly #startTime: number;

  /** `nowMs` is the wall clock's time. */
  constructor(nowMs: number) {
    this.#startTime = nowMs / 1000 - process.uptime();
  }

  values(facts: AgentMetricInputs): AgentMetricValues {
    const { user, system } = process.cpuUsage();
    return {
      ...facts,
      runningPods: this.pods.runningPods,
      containers: this.pods.containers(),
      operations: this.operations.all(),
      cpuSeconds: (user + system) / 1e6,
      startTime: this.#startTime,
    };
  }
}
