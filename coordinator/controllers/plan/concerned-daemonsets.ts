/** Decides which stored DaemonSets a plan covers because of other objects that would change. */
import { isDeepStrictEqual } from 'node:util';
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { changedScope } from '../../decisions/host-values/changed-scope.js';
import type { DryRunResult } from '../../registry/writes/dry-run-apply.js';

/** Objects that an apply would create or change. */
export interface ChangedObjects {
  policies: readonly DryRunResult<RolloutPolicy>[];
  nodes: readonly DryRunResult<Node>[];
  hostValues: readonly DryRunResult<HostValues>[];
  overrides: readonly DryRunResult<DaemonSetOverride>[];
}

/** `keys`: keys of HostValues that the DaemonSet uses. */
export function isConcerned(
  { policies, nodes, hostValues, overrides }: ChangedObjects,
  daemonSet: DaemonSet,
  keys: readonly string[],
): boolean {
  return (
    nodes.length > 0 ||
    policies.some((policy) => isSelected(policy, daemonSet)) ||
    hostValues.some((change) => isUsed(change, daemonSet, keys)) ||
    overrides.some((change) => isOverridden(change, daemonSet))
  );
}

function isInNamespace(object: KubeObject | undefined, { metadata }: DaemonSet): boolean {
  return object !== undefined && object.metadata.namespace === metadata.namespace;
}

/** Returns true if the policy selects the DaemonSet, or did before the change. */
function isSelected({ before, after }: DryRunResult<RolloutPolicy>, daemonSet: DaemonSet): boolean {
  return [before, after].some(
    (policy) =>
      isInNamespace(policy, daemonSet) &&
      compileLabelSelector(policy?.spec.selector).matches(daemonSet.metadata.labels),
  );
}

function isUsed(
  { before, after }: DryRunResult<HostValues>,
  daemonSet: DaemonSet,
  keys: readonly string[],
): boolean {
  return isInNamespace(after, daemonSet) && changedScope(before?.spec, after.spec, keys) !== undefined;
}

function isOverridden({ before, after }: DryRunResult<DaemonSetOverride>, daemonSet: DaemonSet): boolean {
  if (!isInNamespace(after, daemonSet) || isDeepStrictEqual(before?.spec, after.spec)) return false;
  return [before, after].some((one) => one?.spec.daemonSetName === daemonSet.metadata.name);
}
