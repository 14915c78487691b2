/** Answers which Pods would come and go if hosts were changed: by the placement that the DaemonSet controller asks, of the present objects. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type {
  DaemonSetEffect,
  HostEffect,
  HostEffectRequest,
} from '../../../shared/kube/fleet/host-effect-types.js';
import { changedNode, type NodeChange } from '../../../shared/kube/nodes/node-change.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/fleet-group.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { findUntoleratedTaint } from '../../decisions/placement/taint-tolerations.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { placementVerdict } from '../daemonsets/daemonset-node-view.js';

/** More names would be read by nobody. */
const MOST_NAMED = 10;
const EVICTING = ['NoExecute'];

interface HostChangePreviewDeps {
  informers: Pick<Informers, 'nodes' | 'pods' | 'daemonSets'>;
  clock: Clock;
}

export class HostChangePreview {
  readonly #parts: HostChangePreviewDeps;

  constructor(parts: HostChangePreviewDeps) {
    this.#parts = parts;
  }

  /** Looks at each of the hosts, in slices. */
  async effectOf({ hosts, change }: HostEffectRequest): Promise<HostEffect> {
    const { informers, clock } = this.#parts;
    const slice = new TimeSlice(clock);
    const daemonSets = [...informers.daemonSets.list()].filter(({ metadata }) => !metadata.deletionTimestamp);
    const effects = new Map(daemonSets.map((daemonSet) => [daemonSet, noEffect(daemonSet)]));
    const missing: string[] = [];
    let evicted = 0;
    for (const name of new Set(hosts)) {
      const node = informers.nodes.get({ name });
      if (!node) missing.push(name);
      else evicted += this.#lookAt(node, change, effects);
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

  /** Counts what changes on one host; answers how many other Pods have to go. */
  #lookAt(node: Node, change: NodeChange, effects: ReadonlyMap<DaemonSet, DaemonSetEffect>): number {
    const { name } = node.metadata;
    const after = changedNode(node, change);
    const pods = this.#parts.informers.pods
      .indexed(PODS_BY_NODE, name)
      .filter(({ metadata }) => !metadata.deletionTimestamp);
    const owners = new Set(pods.map(({ metadata }) => controllerOf(metadata)?.uid));
    for (const [daemonSet, effect] of effects) {
      const { shouldRun, shouldContinueRunning } = placementVerdict(after, daemonSet);
      const isThere = owners.has(daemonSet.metadata.uid);
      // What comes all the same is not this change's doing.
      if (!isThere && shouldRun && !placementVerdict(node, daemonSet).shouldRun) {
        effect.starts += 1;
        if (effect.startsOn.length < MOST_NAMED) effect.startsOn.push(name);
      }
      if (isThere && !shouldContinueRunning) {
        effect.stops += 1;
        if (effect.stopsOn.length < MOST_NAMED) effect.stopsOn.push(name);
      }
    }
    return pods.filter((pod) => isDrivenOut(pod, node, after)).length;
  }
}

/** DaemonSets' Pods are counted with their DaemonSet. */
function isDrivenOut({ metadata, spec: { tolerations = [] } }: Pod, before: Node, after: Node): boolean {
  if (controllerOf(metadata)?.kind === 'DaemonSet') return false;
  const bears = ({ spec }: Node) => !findUntoleratedTaint(spec?.taints ?? [], tolerations, EVICTING);
  return bears(before) && !bears(after);
}

function noEffect({ metadata: { namespace = '', name } }: DaemonSet): DaemonSetEffect {
  return { namespace, name, starts: 0, startsOn: [], stops: 0, stopsOn: [] };
}

function byName(a: DaemonSetEffect, b: DaemonSetEffect): number {
  const [x, y] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return x < y ? -1 : 1;
}
