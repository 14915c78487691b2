/** The informers as they would be after an apply: stored objects overlaid with changed ones. */

import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import { BY_NAMESPACE, type Informer, type Informers } from '../../informers/informer.js';
import type { DaemonSetInformers } from '../daemonsets/daemonset-deps.js';
import type { NodeReader } from '../daemonsets/daemonset-node-view.js';
import type { NodeSettingsReader } from '../host-values/node-template.js';

type RolloutPolicies = Informers['rolloutPolicies'];
type RolloutPolicy = NonNullable<ReturnType<RolloutPolicies['get']>>;

/** Informers that a plan reads. */
export type PlanInformers = DaemonSetInformers;

/** Objects that an apply would create or change. */
interface Changed {
  daemonSets: readonly DaemonSet[];
  policies: readonly RolloutPolicy[];
  nodes: readonly Node[];
  hostValues?: readonly HostValues[];
  overrides?: readonly DaemonSetOverride[];
  /** Policies that would be deleted. */
  gone?: readonly RolloutPolicy[];
}

export class OverlayInformers {
  readonly #informers: PlanInformers;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #policies: readonly RolloutPolicy[];
  readonly #gone: ReadonlySet<string>;
  readonly #daemonSets: readonly DaemonSet[];
  /** One object for the lifetime of the overlay, because indexes are cached by reader. */
  readonly #settings: NodeSettingsReader;

  constructor(informers: PlanInformers, changed: Changed) {
    const { nodes, policies, daemonSets, hostValues = [], overrides = [], gone = [] } = changed;
    this.#informers = informers;
    this.#settings = {
      hostValues: overlaid(informers.hostValues, hostValues),
      daemonSetOverrides: overlaid(informers.daemonSetOverrides, overrides),
    };
    this.#gone = new Set(gone.map(({ metadata }) => refText(metadata)));
    this.#daemonSets = daemonSets;
    this.#nodes = new Map(nodes.map((node) => [node.metadata.name, node]));
    this.#policies = policies;
  }

  get nodeReader(): NodeReader {
    const { pods, nodes } = this.#informers;
    const changed = this.#nodes;
    return {
      pods,
      ...this.#settings,
      nodes: {
        get: (ref) => changed.get(ref.name) ?? nodes.get(ref),
        list: () => withChanged(nodes.list(), changed),
      },
    };
  }

  policiesIn(namespace: string): RolloutPolicy[] {
    const stored = this.#informers.rolloutPolicies.indexed(BY_NAMESPACE, namespace);
    return withOthers(namespace, this.#policies, stored).filter(
      ({ metadata }) => !this.#gone.has(refText(metadata)),
    );
  }

  daemonSetsIn(namespace: string): DaemonSet[] {
    const stored = this.#informers.daemonSets.indexed(BY_NAMESPACE, namespace);
    return withOthers(namespace, this.#daemonSets, stored);
  }
}

/** Only namespaces are looked up, and nothing changes during a plan. */
function overlaid<T extends KubeObject>(
  informer: Pick<Informer<T>, 'indexed' | 'onChange'>,
  changed: readonly T[],
): Pick<Informer<T>, 'indexed' | 'onChange'> {
  if (changed.length === 0) return informer;
  return {
    indexed: (index, namespace) => withOthers(namespace, changed, informer.indexed(index, namespace)),
    onChange: () => undefined,
  };
}

/** Returns the changed objects of a namespace, and the stored ones with other names. */
function withOthers<T extends KubeObject>(namespace: string, all: readonly T[], stored: readonly T[]): T[] {
  const changed = all.filter(({ metadata }) => metadata.namespace === namespace);
  const names = new Set(changed.map(({ metadata }) => metadata.name));
  return [...stored.filter(({ metadata }) => !names.has(metadata.name)), ...changed];
}

function* withChanged(nodes: Iterable<Node>, changed: ReadonlyMap<string, Node>): Iterable<Node> {
  const seen = new Set<string>();
  for (const node of nodes) {
    seen.add(node.metadata.name);
    yield changed.get(node.metadata.name) ?? node;
  }
  for (const [name, node] of changed) if (!seen.has(name)) yield node;
}
