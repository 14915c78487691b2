/** The waves of a DaemonJob: which host is in which wave of its RolloutPolicy. */
import { type DaemonJob, runOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { assignWavesStepwise, waveNames } from '../../decisions/rollouts/wave-plan.js';

/** The waves of a policy, with the rest as the last one. */
export interface WavePlan {
  count: number;
  /** Returns the index of the host's wave. */
  waveOf(name: string): number;
}

/**
 * Returns the waves of the nodes on which the job may run, or undefined if the policy has none. Visits all nodes once. The
 * same nodes and policy always give the same waves.
 */
export function planWaves(
  job: DaemonJob,
  { metadata, spec }: RolloutPolicy,
  nodes: Iterable<Node>,
  isEligible: (node: Node) => boolean,
): WavePlan | undefined {
  const { waves = [], failureBudget, spreadBy } = spec;
  if (waves.length === 0 && !failureBudget) return undefined;
  const planned = [...nodes].filter(isEligible).map((node) => {
    return { name: node.metadata.name, labels: node.metadata.labels };
  });
  const revision = `${job.metadata.uid}/${runOf(job)}`;
  const steps = assignWavesStepwise(planned, waves, { seed: metadata.uid ?? '', revision, spreadBy });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const assigned = step.value;
  // A host that joins later is in the last wave.
  return { count: waves.length + 1, waveOf: (name) => assigned.get(name) ?? waves.length };
}

/**
 * Returns the last open wave by the stored status. After a restart the hosts of open waves must not lose Pods that wait for
 * their time.
 */
export function storedWave(job: DaemonJob, { spec }: RolloutPolicy): number {
  const { status } = job;
  if (status?.run !== runOf(job) || !status.rollout) return -1;
  return waveNames(spec.waves ?? []).indexOf(status.rollout.wave);
}

/** Returns the hosts whose wave opens or closes when the last open wave changes. */
export function hostsBetween(
  { waveOf }: WavePlan,
  nodes: Iterable<Node>,
  before: number,
  after: number,
): string[] {
  const [from, to] = [Math.min(before, after), Math.max(before, after)];
  const names = [...nodes].map(({ metadata }) => metadata.name);
  return names.filter((name) => waveOf(name) > from && waveOf(name) <= to);
}
