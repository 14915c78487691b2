/** What HostValues give to hosts. Computed on request from the informers, without writes. */
import type {
  EffectiveValue,
  GivenValue,
  HostsByValue,
  ValueCounts,
  ValueGroup,
  ValuesOfHost,
} from '../../../shared/kube/fleet/effective-values-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { resolveValues, type ValueCandidate } from '../../decisions/host-values/value-resolution.js';
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import { HostValueIndex } from '../host-values/host-value-index.js';

/** Names in a group of hosts. */
const MOST_NAMES = 100;
/** Groups in a response. A store number has as many values as there are hosts. */
const MOST_GROUPS = 50;
/** With 10,000 hosts and 200 objects, counting costs 0.6 s of CPU time, and each open page of the console asks for it. */
const COUNTS_KEPT_MS = 15_000;

interface EffectiveValueViewDeps {
  informers: Pick<Informers, 'nodes' | 'hostValues'>;
  clock: Clock;
}

/** Counts that are computed or known. */
interface KeptCounts {
  counts: Promise<ValueCounts>;
  until: number;
}

/** Hosts of a state, with the first names. */
interface CountedHosts {
  count: number;
  nodes: string[];
}

export class EffectiveValueView {
  readonly #deps: EffectiveValueViewDeps;
  readonly #index: HostValueIndex;
  /** By namespace. '' stands for all. */
  readonly #kept = new Map<string, KeptCounts>();

  constructor(deps: EffectiveValueViewDeps) {
    this.#deps = deps;
    this.#index = new HostValueIndex(deps.informers.hostValues);
    deps.informers.hostValues.onChange(() => this.#kept.clear());
  }

  /** Throws 404 for an unknown node. `namespace`: undefined for all. */
  ofHost(namespace: string | undefined, nodeName: string): ValuesOfHost {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    if (!node) throw notFound(nodeKind, nodeName);
    const values = this.#namespaces(namespace).flatMap((each) =>
      this.#keysOf(each).flatMap((key) => {
        const candidates = this.#index.candidates(each, node.metadata, key);
        return candidates.length === 0
          ? []
          : effectiveValue({ namespace: each, key }, node.metadata, candidates);
      }),
    );
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

  /** Returns counts that are at most 15 s old, and never older than the last change of HostValues. */
  counts(namespace: string | undefined): Promise<ValueCounts> {
    const id = namespace ?? '';
    const now = this.#deps.clock.monotonic();
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
    const kept = this.#kept.get(id);
    if (kept) return kept.counts;
    const counts = this.#count(namespace);
    this.#kept.set(id, { counts, until: now + COUNTS_KEPT_MS });
    counts.catch(() => this.#kept.clear());
    return counts;
  }

  /** Visits all nodes in time slices. */
  async #count(namespace: string | undefined): Promise<ValueCounts> {
    const { hostValues, nodes } = this.#deps.informers;
    const objects = new Map<string, { namespace: string; name: string; hosts: number }>();
    for (const { metadata } of hostValues.list()) {
      const { namespace: own = '', name } = metadata;
      if (namespace === undefined || own === namespace)
        objects.set(`${own}/${name}`, { namespace: own, name, hosts: 0 });
    }
    const keys = this.#namespaces(namespace).flatMap((each) =>
      this.#keysOf(each).map((key) => ({ namespace: each, key, hosts: 0 })),
    );
    const slice = new TimeSlice(this.#deps.clock);
    let hosts = 0;
    for (const { metadata } of nodes.list()) {
      hosts += 1;
      const here = new Set<string>();
      for (const each of keys) {
        const candidates = this.#index.candidates(each.namespace, metadata, each.key);
        if (candidates.length > 0) each.hosts += 1;
        for (const { from } of candidates) here.add(`${each.namespace}/${from}`);
      }
      for (const id of here) {
        const object = objects.get(id);
        if (object) object.hosts += 1;
      }
      await slice.yieldIfUsedUp();
    }
    return { hosts, objects: [...objects.values()], keys };
  }

  /** Returns the keys of the namespace, sorted. */
  #keysOf(namespace: string): string[] {
    const keys = new Set<string>();
    for (const { spec } of this.#deps.informers.hostValues.indexed(BY_NAMESPACE, namespace)) {
      for (const key of Object.keys({ ...spec.values, ...spec.secrets })) keys.add(key);
      for (const values of Object.values(spec.hosts ?? {}))
        for (const key of Object.keys(values)) keys.add(key);
    }
    return [...keys].sort();
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

function count(hosts: CountedHosts, name: string): void {
  hosts.count += 1;
  if (hosts.nodes.length < MOST_NAMES) hosts.nodes.push(name);
}
