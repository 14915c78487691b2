/** Simulates a rollout on simulated hosts to its end. The controller's own functions make the decisions. */
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { DaemonSetTally, NodeAction } from '../daemonsets/daemonset-tally.js';
import type { RolloutStrategy } from './rollout-strategy.js';
import type { SimulatedHosts } from './simulated-hosts.js';
import type { SimulationTimeline } from './simulation-timeline.js';

interface RehearsalOptions {
  tally: DaemonSetTally;
  hosts: SimulatedHosts;
  /** Names of all hosts. */
  names: readonly string[];
  timeline: SimulationTimeline;
  conductor: RolloutStrategy;
  slice: TimeSlice;
  /** Called when all actions have been ordered that may be ordered at once. */
  begun?: () => void;
}

/** A longer rollout is not simulated further. */
const HORIZON_MS = 400 * 24 * 3_600_000;

/** Runs to the end, or until only an operator or an offline host could continue the rollout. */
export async function simulateRollout(options: RehearsalOptions): Promise<void> {
  const { hosts, names, timeline, conductor, slice, tally } = options;
  const end = timeline.now + HORIZON_MS;
  hosts.constraints = conductor.constraints;
  for (const name of names) {
    hosts.reconcile(name);
    await slice.yieldIfUsedUp();
  }
  tally.isComplete = true;
  await conductor.start();
  takeTurns(options);
  options.begun?.();
  for (;;) {
    const times = [timeline.next, conductor.requeueAt()].filter((at) => at !== undefined);
    const next = Math.min(...times);
    if (times.length > 0 && next <= end) timeline.moveTo(Math.max(next, timeline.now));
    else if (!conductor.assumeApproval()) return;
    takeTurns(options);
    await slice.yieldIfUsedUp();
  }
}

/** Orders actions until there are none at the present time. */
function takeTurns({ tally, hosts, timeline, conductor }: RehearsalOptions): void {
  for (;;) {
    const { create, replace, revert = [], createFirst: fill = [] } = conductor.nextActions(timeline.now);
    hosts.constraints = conductor.constraints;
    const given = [...giving(tally, create, 'create'), ...giving(tally, replace, 'replace')];
    given.push(...giving(tally, revert, 'revert'));
    for (const name of fill) tally.markInProgress(name);
    given.push(...fill);
    if (given.length === 0) return;
    for (const name of given) hosts.reconcile(name);
  }
}

function giving(tally: DaemonSetTally, names: readonly string[], turn: NodeAction): readonly string[] {
  for (const name of names) tally.orderAction(name, turn);
  return names;
}
