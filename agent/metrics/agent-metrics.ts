/** What is counted of an agent, put together when somebody asks. */
import type { AgentMetricValues } from './agent-metrics-text.js';
import { EngineOperationCounts } from './engine-operation-counts.js';
import { PodCounts } from './pod-counts.js';

/** What the rest of the agent knows of itself. */
export type AgentMetricInputs = Omit<
  AgentMetricValues,
  'runningPods' | 'containers' | 'operations' | 'cpuSeconds' | 'startTime'
>;

export class AgentMetrics {
  readonly pods = new PodCounts();
  readonly operations = new EngineOperationCounts();
  readonly #startTime: number;

  /** `nowMs`: the wall clock's, when the process began so long ago as `process.uptime()` says. */
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
