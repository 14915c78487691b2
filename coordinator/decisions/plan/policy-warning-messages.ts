/**
 * What whoever writes a RolloutPolicy, or takes one away, is to know: it may be said, and may yet not be what was meant.
 * Warnings in words. Pure.
 */

import { REST_WAVE, type RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

/** What the policy finds at one DaemonSet that it selects. */
export interface SelectedDaemonSet {
  name: string;
  /** The policy that governs it: of those that select it the first by name. */
  governor: string;
  /** Its Pods are replaced by a rollout at all. */
  isRollingUpdate: boolean;
  /** Nodes that it runs on, or is to. */
  nodes: number;
  /** Of these, by wave: nodes that the wave's selector matches. */
  matched: readonly number[];
  /** Of these, in the order of names: nodes for which no window ever opens. */
  closed: readonly string[];
}

/** So many are named. */
const MOST_NAMES = 3;

/**
 * Of a policy as it is stored from now on. `selected`: the DaemonSets of its namespace that it selects. `mayNameNodes`: else nodes
 * are counted alone, for who may write a policy need not be one who may see them.
 */
export function policyWarningMessages(
  { name, spec }: { name: string; spec: RolloutPolicySpec },
  selected: readonly SelectedDaemonSet[],
  mayNameNodes: boolean,
): string[] {
  if (selected.length === 0) return ['spec.selector: selects no DaemonSet of this namespace, so far'];
  return selected.flatMap((daemonSet) => {
    const { governor, isRollingUpdate } = daemonSet;
    const whose = `DaemonSet ${daemonSet.name}`;
    if (governor !== name) {
      return [`${whose} is governed by RolloutPolicy ${governor}: of those that select it the first by name`];
    }
    if (!isRollingUpdate) return [`${whose} has the update strategy OnDelete: nothing is rolled out there`];
    return daemonSet.nodes === 0 ? [] : placeRemarks(spec, daemonSet, mayNameNodes);
  });
}

function placeRemarks(
  { waves = [] }: RolloutPolicySpec,
  daemonSet: SelectedDaemonSet,
  mayNameNodes: boolean,
): string[] {
  const { name, nodes, matched, closed } = daemonSet;
  const where = `of the ${nodes} nodes of DaemonSet ${name}`;
  const empty = waves.flatMap((wave, index) =>
    matched[index] === 0
      ? [`spec.waves[${index}].nodeSelector: matches none ${where}: wave ${wave.name} holds nothing up`]
      : [],
  );
  const named = closed.slice(0, MOST_NAMES).join(', ');
  const more = closed.length > MOST_NAMES ? ', …' : '';
  const which = mayNameNodes ? ` (${named}${more})` : '';
  const shut = `spec.windows: none ever opens for ${closed.length} ${where}${which}: no pod is replaced there`;
  return [...empty, ...(closed.length > 0 ? [shut] : [])];
}

/** What a DaemonSet is left with that no policy governs any more; none where nothing is on its way. */
export function releaseWarningMessages(name: string, status: RolloutStatus | undefined): string[] {
  if (!status || (status.completionTime !== undefined && status.failure === undefined)) return [];
  const { revision, phase, wave, updated, nodes, failure } = status;
  const stand =
    failure === undefined
      ? `is in a rollout (${phase}${wave && wave !== REST_WAVE ? `, wave ${wave}` : ''}, ${updated} of ${nodes} nodes updated)`
      : `has a barred revision, ${revision} (${failure})`;
  return [`DaemonSet ${name} ${stand}: without a policy it is rolled out to all nodes, as Kubernetes does`];
}
