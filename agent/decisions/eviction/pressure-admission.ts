/** Rejects Pods while the host is under pressure (pkg/kubelet/eviction managerImpl.Admit). */

import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { Rejection } from '../admission/pod-admission.js';
import { EVICTED } from '../pods/pod-view.js';
import type { Pressure } from './eviction-thresholds.js';

const MEMORY_TAINT = 'node.kubernetes.io/memory-pressure';

/**
 * Returns why the Pod fails before it starts; undefined if it may run. Under memory pressure alone, Pods with a memory
 * request and Pods that tolerate the taint, such as a DaemonSet's, are admitted. The caller exempts critical Pods.
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
