/** Why hosts of a rollout failed, as their Pods tell it. */

import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { HostFailure, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { podProgress } from '../../decisions/reasons/pod-progress.js';
import { knownFailures, MAX_FAILURES } from '../../decisions/rollouts/rollout-outcome.js';
import { type Informers, PODS_BY_TARGET_NODE } from '../../informers/informer.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { WaveIndex } from './wave-index.js';

type Failing = Omit<HostFailure, 'time'>;

/** Those that `before` does not tell of, as long as there is room for them. */
export function newFailures(
  { status, before }: { status: RolloutStatus; before: RolloutStatus | undefined },
  waves: WaveIndex,
  tally: DaemonSetTally,
  informers: Pick<Informers, 'pods'>,
): Failing[] {
  const known = new Set(knownFailures(before, status).map(({ node }) => node));
  const failing: Failing[] = [];
  if (status.failed === 0 || known.size >= MAX_FAILURES) return failing;
  for (const wave of status.waves.keys()) {
    for (const node of waves.failed(wave)) {
      if (known.size + failing.length >= MAX_FAILURES) return failing;
      if (!known.has(node)) failing.push(failureOn(node, tally, informers));
    }
  }
  return failing;
}

function failureOn(node: string, tally: DaemonSetTally, { pods }: Pick<Informers, 'pods'>): Failing {
  const { subject } = tally;
  const pod = pods
    .indexed(PODS_BY_TARGET_NODE, node)
    .filter(({ metadata }) => controllerOf(metadata)?.uid === subject.uid)
    .find(({ metadata }) => metadata.labels?.[REVISION_HASH_LABEL] === subject.current.hash);
  const { trouble } = tally.recordOf(node)?.newPod ?? {};
  const progress = pod && podProgress(pod);
  const isLost = trouble === undefined && progress?.code === 'Running';
  return {
    node,
    reason: trouble ?? (isLost ? 'HostLost' : 'NotAvailableInTime'),
    ...(progress && !isLost ? { message: progress.because } : {}),
  };
}
