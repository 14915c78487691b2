/** Simulates a rollout on simulated hosts to its end. The controller's own functions make the decisions. */
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { DaemonSetTally, NodeAction } from '../daemonsets/daemonset-tally.js';
import type { RolloutStrategy } from './rollout-strategy.js';
import type { SimulatedHosts } from './simulated-hosts.js';
import type { SimulationTimeline } from './simulation-timeline.js';

interface SimulationOptions {
  tally: DaemonSetTally;
  hosts: SimulatedHosts;
  /** Names of all hosts. */
  names: readonly string[];
  timeline: SimulationTimeline;
  strategy: RolloutStrategy;
  slice: TimeSlice;
  /** Called when all actions have been ordered that may be ordered at once. */
  started?: () => void;
}

/** A longer rollout is not simulated further. */
const HORIZON_MS = 400 * 24 * 3_600_000;

/** Runs to the end, or until only an operator or an offline host could continue the rollout. */
export async function simulateRollout(options: SimulationOptions): Promise<void> {
  const { hosts, names, timeline, strategy, slice, tally } = options;
  const end = timeline.now + HORIZON_MS;
  hosts.constraints = strategy.constraints;
  for (const name of names) {
    hosts.reconcile(name);
    await slice.yieldIfUsedUp();
  }
  tally.isComplete = true;
  await strategy.start();
  orderActions(options);
  options.started?.();
  for (;;) {
    const times = [timeline.next, strategy.requeueAt()].filter((at) => at !== undefined);
    const next = Math.min(...times);
    if (times.length > 0 && next <= end) timeline.moveTo(Math.max(next, timeline.now));
    else if (!strategy.assumeApproval()) return;
    orderActions(options);
    await slice.yieldIfUsedUp();
  }
}

/** Orders actions until there are none at the present time. */
function orderActions({ tally, hosts, timeline, strategy }: SimulationOptions): void {
  for (;;) {
    const { create, replace, revert = [], createFirst: fill = [] } = strategy.nextActions(timeline.now);
    hosts.constraints = strategy.constraints;
    const given = [...ordering(tally, create, 'create'), ...ordering(tally, replace, 'replace')];
    given.push(...ordering(tally, revert, 'revert'));
    for (const name of fill) tally.markInProgress(name);
    given.push(...fill);
    if (given.length === 0) return;
    for (const name of given) hosts.reconcile(name);
  }
}

function ordering(tally: DaemonSetTally, names: readonly string[], action: NodeAction): readonly string[] {
  for (const name of names) tally.orderAction(name, action);
  return names;
}
