/** Everynode as a measured fleet: DaemonSets through its API. */
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { WAITS } from '../../harness/engines/test-images.js';
import { BenchDaemonSet } from '../bench-daemonset.js';
import { IMAGE } from './bench-engines.js';
import type { MeasuredFleet } from './measured-fleet.js';

const MERGE = 'application/merge-patch+json';

export class EverynodeFleet implements MeasuredFleet {
  readonly #api: CoordinatorApi;
  readonly #firstNode: string;
  readonly #size: number;
  readonly #labelled: BenchDaemonSet;
  #deployed: BenchDaemonSet;
  #version = 0;

  constructor(api: CoordinatorApi, firstNode: string, size: number) {
    this.#api = api;
    this.#firstNode = firstNode;
    this.#size = size;
    this.#labelled = new BenchDaemonSet(api);
    this.#deployed = new BenchDaemonSet(api);
  }

  /** Call before the first `label`. */
  async prepare(): Promise<void> {
    await this.#labelled.create({ image: IMAGE, command: WAITS, nodeSelector: { bench: 'on' } });
  }

  async label(wanted: boolean): Promise<void> {
    const labels = { bench: wanted ? 'on' : null };
    await this.#api.request('PATCH', `/api/v1/nodes/${this.#firstNode}`, { metadata: { labels } }, MERGE);
  }

  async deploy(): Promise<void> {
    this.#deployed = new BenchDaemonSet(this.#api);
    await this.#deployed.create({ image: IMAGE, command: WAITS });
  }

  async untilAllShown(): Promise<void> {
    await this.#deployed.untilReady(this.#size);
  }

  async update(atOnce: number): Promise<void> {
    this.#version += 1;
    const annotations = { version: String(this.#version) };
    const rollingUpdate = { maxUnavailable: atOnce };
    await this.#deployed.update({
      template: { metadata: { annotations } },
      updateStrategy: { rollingUpdate },
    });
  }

  async remove(): Promise<void> {
    await this.#deployed.remove();
  }
}
