/** The DefaultTolerationSeconds admission plugin (`plugin/pkg/admission/defaulttolerationseconds`). */

import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

function bears(toleration: Toleration, taint: string): boolean {
  return (
    (!toleration.key || toleration.key === taint) && (!toleration.effect || toleration.effect === 'NoExecute')
  );
}

/** Lets a Pod stay on a dark node for 5 minutes unless it says otherwise. Changes it in place. */
export function addDefaultTolerations(pod: Pod): void {
  const own = pod.spec.tolerations ?? [];
  const added = TAINTS.filter((taint) => !own.some((toleration) => bears(toleration, taint))).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS,
  }));
  if (added.length > 0) pod.spec.tolerations = [...own, ...added];
}
