/** Counts results of probes, like the kubelet (pkg/kubelet/prober/prober_manager.go `prober_probe_total`). */
import type { MetricFamily } from './prometheus-text.js';

interface CountedProbe {
  namespace: string;
  pod: string;
  podUid: string;
  container: string;
  kind: 'startup' | 'liveness' | 'readiness';
  /** Result of the probe. `error`: the probe itself failed. */
  result: 'success' | 'warning' | 'failure' | 'error';
}

/** The kubelet's names. */
const KINDS = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;
const RESULTS = {
  success: 'successful',
  warning: 'successful',
  failure: 'failed',
  error: 'unknown',
} as const;

interface Series {
  labels: Record<string, string>;
  count: number;
}

export class ProbeCounts {
  readonly #byPod = new Map<string, Map<string, Series>>();

  record({ namespace, pod, podUid, container, kind, result }: CountedProbe): void {
    const labels = {
      container,
      namespace,
      pod,
      pod_uid: podUid,
      probe_type: KINDS[kind],
      result: RESULTS[result],
    };
    const key = `${container} ${labels.probe_type} ${labels.result}`;
    const ofPod = this.#byPod.get(podUid) ?? new Map<string, Series>();
    this.#byPod.set(podUid, ofPod);
    const series = ofPod.get(key) ?? { labels, count: 0 };
    ofPod.set(key, series);
    series.count += 1;
  }

  /** Drops the series of a removed Pod. Otherwise they would use memory until the agent ends. */
  forget(podUid: string): void {
    this.#byPod.delete(podUid);
  }

  family(): MetricFamily {
    const series = [...this.#byPod.values()].flatMap((ofPod) => [...ofPod.values()]);
    return {
      name: 'prober_probe_total',
      type: 'counter',
      help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
      samples: series.map(({ labels, count }) => ({ labels, value: count })),
    };
  }
}
