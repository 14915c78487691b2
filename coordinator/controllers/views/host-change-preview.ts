/**
 * Computes which Pods would start and stop if hosts were changed, with the placement rules of the DaemonSet controller.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type {
  DaemonSetEffect,
  HostEffect,
  HostEffectRequest,
} from '../../../shared/kube/fleet/host-effect-types.js';
import { changedNode, type NodeChange } from '../../../shared/kube/nodes/node-change.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { controllerOf, FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { findUntoleratedTaint } from '../../decisions/placement/taint-tolerations.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { placementVerdict } from '../daemonsets/daemonset-node-view.js';

const MAX_NAMES = 10;
const EVICTING = ['NoExecute'];

interface HostChangePreviewDeps {
  informers: Pick<Informers, 'nodes' | 'pods' | 'daemonSets'>;
  clock: Clock;
}

export class HostChangePreview {
  readonly #deps: HostChangePreviewDeps;

  constructor(deps: HostChangePreviewDeps) {
    this.#deps = deps;
  }

  async effectOf({ hosts, change }: HostEffectRequest): Promise<HostEffect> {
    const { informers, clock } = this.#deps;
    const slice = new TimeSlice(clock);
    const daemonSets = [...informers.daemonSets.list()].filter(({ metadata }) => !metadata.deletionTimestamp);
    const effects = new Map(daemonSets.map((daemonSet) => [daemonSet, noEffect(daemonSet)]));
    const missing: string[] = [];
    let evicted = 0;
    for (const name of new Set(hosts)) {
      const node = informers.nodes.get({ name });
      if (!node) missing.push(name);
      else evicted += this.#count(node, change, effects);
      await slice.yieldIfUsedUp();
    }
    return {
      kind: 'HostEffect',
      apiVersion: `${FLEET_GROUP}/v1`,
      hosts: new Set(hosts).size - missing.length,
      missing,
      daemonSets: [...effects.values()].filter(({ starts, stops }) => starts + stops > 0).sort(byName),
      evicted,
    };
  }

  /** Counts the changes on one host. Returns the number of other Pods that would be evicted. */
  #count(node: Node, change: NodeChange, effects: ReadonlyMap<DaemonSet, DaemonSetEffect>): number {
    const { name } = node.metadata;
    const after = changedNode(node, change);
    const pods = this.#deps.informers.pods
      .indexed(PODS_BY_NODE, name)
      .filter(({ metadata }) => !metadata.deletionTimestamp);
    const owners = new Set(pods.map(({ metadata }) => controllerOf(metadata)?.uid));
    for (const [daemonSet, effect] of effects) {
      const { shouldRun, shouldContinueRunning } = placementVerdict(after, daemonSet);
      const isThere = owners.has(daemonSet.metadata.uid);
      // A Pod that starts without the change is not an effect of it.
      if (!isThere && shouldRun && !placementVerdict(node, daemonSet).shouldRun) {
        effect.starts += 1;
        if (effect.startsOn.length < MAX_NAMES) effect.startsOn.push(name);
      }
      if (isThere && !shouldContinueRunning) {
        effect.stops += 1;
        if (effect.stopsOn.length < MAX_NAMES) effect.stopsOn.push(name);
      }
    }
    return pods.filter((pod) => isEvicted(pod, node, after)).length;
  }
}

/** Pods of a DaemonSet are counted with their DaemonSet. */
function isEvicted({ metadata, spec: { tolerations = [] } }: Pod, before: Node, after: Node): boolean {
  if (controllerOf(metadata)?.kind === 'DaemonSet') return false;
  const tolerates = ({ spec }: Node) => !findUntoleratedTaint(spec?.taints ?? [], tolerations, EVICTING);
  return tolerates(before) && !tolerates(after);
}

function noEffect({ metadata: { namespace = '', name } }: DaemonSet): DaemonSetEffect {
  return { namespace, name, starts: 0, startsOn: [], stops: 0, stopsOn: [] };
}

function byName(a: DaemonSetEffect, b: DaemonSetEffect): number {
  const [x, y] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return x < y ? -1 : 1;
}
