/** Warnings about effects of a valid RolloutPolicy, or of its deletion, that the author may not have intended. */

import { REST_WAVE, type RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

/** How a policy applies to one DaemonSet that it selects. */
export interface SelectedDaemonSet {
  name: string;
  /** The policy that governs the DaemonSet: the first by name that selects it. */
  governor: string;
  /** False: the update strategy is OnDelete, so there are no rollouts. */
  isRollingUpdate: boolean;
  /** Number of nodes that should run the DaemonSet. */
  nodes: number;
  /** For each wave: how many of these nodes match its selector. */
  matched: readonly number[];
  /** Names of these nodes for which no window ever opens, sorted. */
  closed: readonly string[];
}

/** Maximum number of node names in a warning. */
const MOST_NAMES = 3;

/**
 * Warnings for a policy that is stored. `selected`: the DaemonSets of its namespace that it selects. `mayNameNodes`:
 * false if the author may not read Nodes, so that warnings must not name them.
 */
export function policyWarningMessages(
  { name, spec }: { name: string; spec: RolloutPolicySpec },
  selected: readonly SelectedDaemonSet[],
  mayNameNodes: boolean,
): string[] {
  if (selected.length === 0) return ['spec.selector: selects no DaemonSet of this namespace'];
  return selected.flatMap((daemonSet) => {
    const { governor, isRollingUpdate } = daemonSet;
    const whose = `DaemonSet ${daemonSet.name}`;
    if (governor !== name) {
      return [`${whose} is governed by RolloutPolicy ${governor}, the first by name that selects it`];
    }
    if (!isRollingUpdate) return [`${whose} has the update strategy OnDelete, so it has no rollouts`];
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
      ? [`spec.waves[${index}].nodeSelector: matches none ${where}: wave ${wave.name} has no effect`]
      : [],
  );
  const named = closed.slice(0, MOST_NAMES).join(', ');
  const more = closed.length > MOST_NAMES ? ', …' : '';
  const which = mayNameNodes ? ` (${named}${more})` : '';
  const shut = `spec.windows: no window ever opens for ${closed.length} ${where}${which}; their Pods are never replaced`;
  return [...empty, ...(closed.length > 0 ? [shut] : [])];
}

/** Warnings for a DaemonSet that no policy governs any longer. Returns [] if no rollout is in progress. */
export function releaseWarningMessages(name: string, status: RolloutStatus | undefined): string[] {
  if (!status || (status.completionTime !== undefined && status.failure === undefined)) return [];
  const { revision, phase, wave, updated, nodes, failure } = status;
  const stand =
    failure === undefined
      ? `is in a rollout (${phase}${wave && wave !== REST_WAVE ? `, wave ${wave}` : ''}, ${updated} of ${nodes} nodes updated)`
      : `has a barred revision, ${revision} (${failure})`;
  return [`DaemonSet ${name} ${stand}: without a policy it is rolled out to all nodes, as Kubernetes does`];
}
