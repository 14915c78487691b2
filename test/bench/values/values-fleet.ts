/** A fleet of simulated hosts with a store number each, and what the benchmark checks on it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import { renderedValues } from '../../../shared/kube/host-values/rendered-values.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { PODS } from '../bench-daemonset.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';

const HOST_VALUES = '/apis/fleet.everynode.dev/v1/namespaces/default/hostvalues';
const MERGE = 'application/merge-patch+json';
const STORE = "hostValues['store']";
const BANNER = "hostValues['banner']";

/** Starts a coordinator with `agents` joined hosts and stops both after `work`. */
export async function withHosts(
  agents: number,
  work: (product: HollowFleet) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  try {
    const product = await HollowFleet.start(join(folder, 'product'), agents);
    try {
      await product.join();
      await work(product);
    } finally {
      await product.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pod fields with two variables. They come from values of the host, or are literals for the comparison. */
export function podSpec(source: 'values' | 'literals', image = 'app:1'): object {
  const variable = (name: string, fieldPath: string) =>
    source === 'values' ? { name, valueFrom: { fieldRef: { fieldPath } } } : { name, value: 'a literal' };
  return {
    containers: [{ name: 'main', image, env: [variable('STORE', STORE), variable('BANNER', BANNER)] }],
  };
}

/** The store number of each host, and one value that all hosts share. */
export class StoreNumbers {
  readonly #expected: Map<string, string>;
  /** Names of the hosts in each object with store numbers. */
  #objects = new Map<string, string[]>();
  #banner = 'open';

  constructor(
    private readonly api: CoordinatorApi,
    agents: number,
  ) {
    this.#expected = new Map(
      Array.from({ length: agents }, (_, index) => [`node-${index + 1}`, String(10_000 + index)]),
    );
  }

  /** Creates objects of at most `perObject` hosts, and then deletes those of the last call. */
  async divide(perObject: number): Promise<void> {
    const names = [...this.#expected.keys()];
    const objects = new Map<string, string[]>();
    for (let from = 0; from < names.length; from += perObject)
      objects.set(`stores-${perObject}-${from}`, names.slice(from, from + perObject));
    if (this.#objects.size === 0) await this.#create('banner', { values: { banner: this.#banner } });
    for (const [name, own] of objects)
      await this.#create(name, {
        hosts: Object.fromEntries(own.map((node) => [node, { store: this.#expected.get(node) ?? '' }])),
      });
    for (const name of this.#objects.keys()) await this.api.request('DELETE', `${HOST_VALUES}/${name}`);
    this.#objects = objects;
  }

  /** Changes the value of one host. */
  async change(node: string, store: string): Promise<void> {
    this.#expected.set(node, store);
    const [name] = [...this.#objects].find(([, nodes]) => nodes.includes(node)) ?? [];
    await this.api.request(
      'PATCH',
      `${HOST_VALUES}/${name}`,
      { spec: { hosts: { [node]: { store } } } },
      MERGE,
    );
  }

  /** Changes the value that all hosts use. */
  async changeAll(banner: string): Promise<void> {
    this.#banner = banner;
    await this.api.request('PATCH', `${HOST_VALUES}/banner`, { spec: { values: { banner } } }, MERGE);
  }

  async #create(name: string, spec: HostValuesSpec): Promise<void> {
    await this.api.request('POST', HOST_VALUES, { metadata: { name }, spec });
  }

  /** Throws unless each host has one Pod, with its own values. Returns the uid of each host's Pod. */
  async podsOf(app: string): Promise<Map<string, string>> {
    const { items } = await this.api.items<Pod>(`${PODS}?labelSelector=app%3D${app}`);
    const live = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    const uids = new Map<string, string>();
    for (const pod of live) {
      const { nodeName = '' } = pod.spec;
      const shown = renderedValues(pod);
      const [store, banner] = [shown.get(STORE), shown.get(BANNER)];
      if (store !== this.#expected.get(nodeName) || banner !== this.#banner)
        throw new Error(`${nodeName} has the values ${String(store)} and ${String(banner)}`);
      uids.set(nodeName, pod.metadata.uid ?? '');
    }
    if (uids.size !== this.#expected.size || live.length !== uids.size)
      throw new Error(`${live.length} Pods on ${uids.size} of ${this.#expected.size} hosts`);
    return uids;
  }
}
