/** A DaemonSet on a fleet and its progress, as seen by an API client. */
import { randomUUID } from 'node:crypto';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { until } from '../harness/basics/wait-until.js';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
export const PODS = '/api/v1/namespaces/default/pods';
const ALL_MS = 900_000;

export class BenchDaemonSet {
  readonly name = `bench-${randomUUID().slice(0, 8)}`;
  readonly #api: CoordinatorApi;

  constructor(api: CoordinatorApi) {
    this.#api = api;
  }

  /** Resolves when the API has stored the DaemonSet. */
  async create(
    wish: {
      nodeSelector?: Record<string, string>;
      image?: string;
      command?: string[];
      /** More fields of the Pods' spec. */
      podSpec?: object;
    } = {},
  ): Promise<void> {
    const labels = { app: this.name };
    const { image = 'app:1', command, nodeSelector, podSpec } = wish;
    const container = { name: 'main', image, ...(command && { command }) };
    await this.#api.request('POST', DAEMON_SETS, {
      metadata: { name: this.name },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [container],
            terminationGracePeriodSeconds: 5,
            ...(nodeSelector && { nodeSelector }),
            ...podSpec,
          },
        },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
      },
    });
  }

  /** Resolves when the DaemonSet's status counts `count` ready Pods of the current template. */
  async untilReady(count: number): Promise<void> {
    await this.#untilStatus(`${count} Pods to be ready`, ({ metadata, status }) => {
      const isCurrent = status?.observedGeneration === metadata.generation;
      return isCurrent && status?.numberReady === count && (status.updatedNumberScheduled ?? 0) === count;
    });
  }

  async update(spec: object): Promise<void> {
    await this.#api.request(
      'PATCH',
      `${DAEMON_SETS}/${this.name}`,
      { spec },
      'application/strategic-merge-patch+json',
    );
  }

  /** Resolves when the DaemonSet and its Pods are deleted. */
  async remove(): Promise<void> {
    await this.#api.request('DELETE', `${DAEMON_SETS}/${this.name}?propagationPolicy=Foreground`);
    const isGone = async () => (await this.#api.send('GET', `${DAEMON_SETS}/${this.name}`)).code === 404;
    await until(isGone, { timeoutMs: ALL_MS, what: `${this.name} to be gone`, pollMs: 200 });
  }

  /** Uses a watch: polls would add to the coordinator's load, which is what the benchmark measures. */
  async #untilStatus(what: string, holds: (daemonSet: DaemonSet) => boolean): Promise<void> {
    const path = `${DAEMON_SETS}?fieldSelector=metadata.name%3D${this.name}`;
    const { items, resourceVersion } = await this.#api.items<DaemonSet>(path);
    if (items.some(holds)) return;
    const watch = await this.#api.watch(path, resourceVersion);
    try {
      const isThere = () => watch.events.some(({ object }) => holds(object as unknown as DaemonSet));
      await until(isThere, { timeoutMs: ALL_MS, what, pollMs: 1 });
    } finally {
      watch.close();
    }
  }
}
