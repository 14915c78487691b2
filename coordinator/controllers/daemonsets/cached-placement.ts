/** Placement as controllers ask it: of one DaemonSet, of many nodes. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  compilePlacement,
  type PlacementNode,
  type PlacementVerdict,
} from '../../decisions/placement/placement.js';

type Placer = (node: PlacementNode) => PlacementVerdict;

/** By the informers' object: it is never changed, only replaced. */
const placers = new WeakMap<DaemonSet, Placer>();

/** Whether the node should run the DaemonSet's Pod, and may keep one. */
export function placementVerdict(node: PlacementNode, daemonSet: DaemonSet): PlacementVerdict {
  const known = placers.get(daemonSet);
  if (known) return known(node);
  const placer = compilePlacement(daemonSet.spec.template.spec);
  placers.set(daemonSet, placer);
  return placer(node);
}
