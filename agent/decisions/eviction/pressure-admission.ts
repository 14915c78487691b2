/** Pods that a host under pressure does not let in (pkg/kubelet/eviction managerImpl.Admit). */

import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { Rejection } from '../admission/pod-admission.js';
import { EVICTED } from '../pods/pod-view.js';
import type { Pressure } from './eviction-thresholds.js';

const MEMORY_TAINT = 'node.kubernetes.io/memory-pressure';

/**
 * Why the Pod ends Failed before anything of it starts; undefined when it may run. Short of memory alone, a host still takes
 * Pods that ask for some, and those that tolerate its taint, as a DaemonSet's do. The caller leaves critical Pods out.
 */
export function pressureRejection(
  { spec }: Pick<Pod, 'spec'>,
  pressures: readonly Pressure[],
): Rejection | undefined {
  if (pressures.length === 0) return undefined;
  const isMemoryAlone = pressures.length === 1 && pressures[0] === 'MemoryPressure';
  if (isMemoryAlone && (qualityOfService(spec) !== 'BestEffort' || toleratesMemory(spec.tolerations ?? [])))
    return undefined;
  return { reason: EVICTED, message: `The node had condition: [${pressures.join(' ')}]. ` };
}

function toleratesMemory(tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ key, operator, value, effect }) =>
      (!effect || effect === 'NoSchedule') &&
      (!key || key === MEMORY_TAINT) &&
      (operator === 'Exists' || !value),
  );
}
