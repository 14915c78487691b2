/** What HostValues give to hosts. Computed on request from the informers, without writes. */
import type {
  EffectiveValue,
  GivenValue,
  HostsByValue,
  ValueCounts,
  ValueGroup,
  ValuesOfHost,
} from '../../../shared/kube/fleet/effective-values-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { resolveValues, type ValueCandidate } from '../../decisions/host-values/value-resolution.js';
import type { Informers } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import { hostValueIndexOf } from '../host-values/node-values.js';

/** Names in a group of hosts. */
const MOST_NAMES = 100;
/** Groups in a response. A store number has as many values as there are hosts. */
const MOST_GROUPS = 200;

interface EffectiveValueViewDeps {
  informers: Pick<Informers, 'nodes' | 'hostValues'>;
  clock: Clock;
}

/** Hosts of a state, with the first names. */
interface CountedHosts {
  count: number;
  nodes: string[];
}

export class EffectiveValueView {
  readonly #deps: EffectiveValueViewDeps;

  constructor(deps: EffectiveValueViewDeps) {
    this.#deps = deps;
  }

  /** Throws 404 for an unknown node. `namespace`: undefined for all. */
  ofHost(namespace: string | undefined, nodeName: string): ValuesOfHost {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    if (!node) throw notFound(nodeKind, nodeName);
    const values = this.#namespaces(namespace).flatMap((each) => {
      const { named, selected } = this.#index.objectsOn(each, node.metadata);
      const keys = new Set([
        ...named.flatMap((object) => Object.keys(object.spec.hosts?.[nodeName] ?? {})),
        ...selected.flatMap(selectedKeys),
      ]);
      return [...keys].sort().map((key) => this.#effective(each, node.metadata, key));
    });
    return { node: nodeName, values };
  }

  /** Visits all nodes in time slices. `wanted` selects one value. */
  async byValue(namespace: string | undefined, key: string, wanted?: string): Promise<HostsByValue> {
    const namespaces = this.#namespaces(namespace);
    const groups = new Map<string, ValueGroup & { from: string[]; nodes: string[] }>();
    const conflicts: CountedHosts & { message?: string } = { count: 0, nodes: [] };
    const missing: CountedHosts = { count: 0, nodes: [] };
    const slice = new TimeSlice(this.#deps.clock);
    for (const { metadata } of this.#sortedNodes()) {
      await slice.yieldIfUsedUp();
      for (const each of namespaces) {
        const candidates = this.#index.candidates(each, metadata, key);
        if (candidates.length === 0) {
          if (namespace !== undefined) count(missing, metadata.name);
          continue;
        }
        const effective = effectiveValue({ namespace: each, key }, metadata, candidates);
        if (effective.state === 'Conflict') {
          count(conflicts, metadata.name);
          conflicts.message ??= effective.message;
          continue;
        }
        const { value, from } = effective;
        if (wanted !== undefined && value !== wanted) continue;
        const id = JSON.stringify([each, value]);
        const group = groups.get(id) ?? { namespace: each, value, from: [], count: 0, nodes: [] };
        groups.set(id, group);
        count(group, metadata.name);
        if (!group.from.includes(from)) group.from.push(from);
      }
    }
    const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
    const moreGroups = Math.max(0, sorted.length - MOST_GROUPS);
    return { key, groups: sorted.slice(0, MOST_GROUPS), moreGroups, conflicts, missing };
  }

  /** Visits all nodes in time slices. */
  async counts(namespace: string | undefined): Promise<ValueCounts> {
    const namespaces = this.#namespaces(namespace);
    const objects = new Map<HostValues, number>();
    const keys = new Map<string, { namespace: string; key: string; hosts: number }>();
    for (const object of this.#deps.informers.hostValues.list())
      if (namespaces.includes(object.metadata.namespace ?? '')) objects.set(object, 0);
    const slice = new TimeSlice(this.#deps.clock);
    let hosts = 0;
    for (const { metadata } of this.#deps.informers.nodes.list()) {
      hosts += 1;
      await slice.yieldIfUsedUp();
      for (const each of namespaces) {
        const { named, selected } = this.#index.objectsOn(each, metadata);
        for (const object of new Set([...named, ...selected]))
          objects.set(object, (objects.get(object) ?? 0) + 1);
        const here = new Set([
          ...named.flatMap((object) => Object.keys(object.spec.hosts?.[metadata.name] ?? {})),
          ...selected.flatMap(selectedKeys),
        ]);
        for (const key of here) {
          const id = `${each}/${key}`;
          const known = keys.get(id) ?? { namespace: each, key, hosts: 0 };
          keys.set(id, known);
          known.hosts += 1;
        }
      }
    }
    return {
      hosts,
      objects: [...objects].map(([object, number]) => ({
        ...{ namespace: object.metadata.namespace ?? '', name: object.metadata.name, hosts: number },
      })),
      keys: [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key),
    };
  }

  get #index() {
    return hostValueIndexOf(this.#deps.informers.hostValues);
  }

  #effective(namespace: string, node: NodeMeta, key: string): EffectiveValue {
    return effectiveValue({ namespace, key }, node, this.#index.candidates(namespace, node, key));
  }

  /** The namespaces with HostValues, sorted. */
  #namespaces(wanted: string | undefined): string[] {
    const all = new Set<string>();
    for (const { metadata } of this.#deps.informers.hostValues.list()) all.add(metadata.namespace ?? '');
    return [...all].filter((each) => wanted === undefined || each === wanted).sort();
  }

  #sortedNodes() {
    return [...this.#deps.informers.nodes.list()].sort((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
  }
}

type NodeMeta = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;

/** Decides like the DaemonSet controller. */
function effectiveValue(
  about: { namespace: string; key: string },
  node: NodeMeta,
  candidates: readonly ValueCandidate[],
): EffectiveValue {
  const given: GivenValue[] = [...candidates].sort(
    (a, b) => b.priority - a.priority || Number(b.isNamed) - Number(a.isNamed),
  );
  const found = resolveValues([`hostValues['${about.key}']`], node, () => candidates);
  if (found.kind === 'refused') return { ...about, state: 'Conflict', message: found.message, given };
  const [winner] = found.values;
  const from = winner?.from ?? '';
  return {
    ...about,
    ...{ state: 'Effective', value: winner?.value ?? '', from },
    // An object can name a host and select it: then its own other value is overridden.
    overridden: given.filter((each) => each.from !== from || each.value !== winner?.value),
  };
}

function selectedKeys({ spec }: HostValues): string[] {
  return [...Object.keys(spec.values ?? {}), ...Object.keys(spec.secrets ?? {})];
}

function count(hosts: CountedHosts, name: string): void {
  hosts.count += 1;
  if (hosts.nodes.length < MOST_NAMES) hosts.nodes.push(name);
}
