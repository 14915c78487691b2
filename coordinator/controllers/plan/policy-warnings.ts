/** Warnings for the author of a RolloutPolicy about the DaemonSets that it selects. Writes nothing. */
import {
  compileMaintenanceSchedules,
  nextReplacementTime,
} from '../../../shared/calendar/maintenance-schedule.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import {
  policyWarningMessages,
  releaseWarningMessages,
  type SelectedDaemonSet,
} from '../../decisions/plan/policy-warning-messages.js';
import { placementVerdict } from '../daemonsets/daemonset-node-view.js';
import { governingPolicy } from '../rollouts/rollout-decision.js';
import type { OverlayInformers, PlanInformers } from './overlay-informers.js';

export interface WrittenPolicy {
  /** As stored. Absent if the write creates it. */
  before?: RolloutPolicy | undefined;
  /** Absent if the write deletes it. */
  after?: RolloutPolicy | undefined;
  /** False: warnings count nodes, but do not name them. */
  mayNameNodes: boolean;
}

interface RemarkedWrite extends WrittenPolicy {
  /** The state after the write. */
  overlay: OverlayInformers;
  informers: Pick<PlanInformers, 'rollouts'>;
  clock: Clock;
}

/** Visits every node for each governed DaemonSet, in time slices. */
export async function policyWarnings({
  before,
  after,
  mayNameNodes,
  overlay,
  informers,
  clock,
}: RemarkedWrite): Promise<string[]> {
  const { namespace = '' } = (after ?? before)?.metadata ?? {};
  const policies = overlay.policiesIn(namespace);
  const daemonSets = overlay.daemonSetsIn(namespace);
  // Read the Rollouts first, because the controller deletes Rollouts that no policy governs.
  const released = daemonSets
    .filter((daemonSet) => before && selects(before, daemonSet) && !governingPolicy(daemonSet, policies))
    .map(({ metadata: { name } }) => ({ name, status: informers.rollouts.get({ namespace, name })?.status }));
  const left = released.flatMap(({ name, status }) => releaseWarningMessages(name, status));
  if (!after) return left;
  const selected: SelectedDaemonSet[] = [];
  for (const daemonSet of daemonSets.filter((one) => selects(after, one))) {
    const governor = governingPolicy(daemonSet, policies)?.metadata.name ?? '';
    const isRolled = isRollingUpdate(daemonSet.spec.updateStrategy);
    const isInForce = isRolled && governor === after.metadata.name;
    selected.push({
      name: daemonSet.metadata.name,
      governor,
      isRollingUpdate: isRolled,
      ...(isInForce ? await foundAt(daemonSet, after, overlay, clock) : NOT_LOOKED_AT),
    });
  }
  return [
    ...policyWarningMessages({ name: after.metadata.name, spec: after.spec }, selected, mayNameNodes),
    ...left,
  ];
}

/** For a policy that is not in force, its nodes do not matter. */
const NOT_LOOKED_AT = { nodes: 0, matched: [], closed: [] };

function selects({ spec }: RolloutPolicy, { metadata }: DaemonSet): boolean {
  return compileLabelSelector(spec.selector).matches(metadata.labels);
}

async function foundAt(
  daemonSet: DaemonSet,
  { spec }: RolloutPolicy,
  overlay: OverlayInformers,
  clock: Clock,
): Promise<Pick<SelectedDaemonSet, 'nodes' | 'matched' | 'closed'>> {
  const classOf = compileMaintenanceSchedules(spec);
  const matchers = (spec.waves ?? []).map(({ nodeSelector }) => compileLabelSelector(nodeSelector ?? {}));
  const matched = matchers.map(() => 0);
  const never = new Map<string, boolean>();
  const closed: string[] = [];
  const slice = new TimeSlice(clock);
  let nodes = 0;
  for (const node of overlay.nodeReader.nodes.list()) {
    await slice.yieldIfUsedUp();
    if (!placementVerdict(node, daemonSet).shouldRun) continue;
    const { name, labels } = node.metadata;
    nodes += 1;
    for (const [wave, matcher] of matchers.entries()) {
      if (matcher.matches(labels)) matched[wave] = (matched[wave] ?? 0) + 1;
    }
    const hours = classOf(labels);
    const isNever = never.get(hours.key) ?? nextReplacementTime(hours, clock.now()) === undefined;
    never.set(hours.key, isNever);
    if (isNever) closed.push(name);
  }
  return { nodes, matched, closed: closed.sort() };
}
