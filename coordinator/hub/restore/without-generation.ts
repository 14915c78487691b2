/** Removes the template generation from Pods that a lost coordinator created. */

import { TEMPLATE_GENERATION_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * After a restore both coordinators count generations onward from the backup. By the number alone, a Pod of the lost
 * one would match a template that it was not created from, and would never be replaced. Its revision hash still
 * identifies the template.
 */
export function withoutTemplateGeneration(pod: Pod): Pod {
  const { [TEMPLATE_GENERATION_LABEL]: generation, ...labels } = pod.metadata.labels ?? {};
  return generation === undefined ? pod : { ...pod, metadata: { ...pod.metadata, labels } };
}
