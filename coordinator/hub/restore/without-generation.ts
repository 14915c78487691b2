/** Pods of a coordinator that is lost, as the restored one may store them. */

import { TEMPLATE_GENERATION_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * The lost coordinator counted on from the backup as this one will: by the number alone its Pods would pass for those of a template
 * that they are not made of, and never be replaced. Their revision's hash says what they are.
 */
export function withoutTemplateGeneration(pod: Pod): Pod {
  const { [TEMPLATE_GENERATION_LABEL]: generation, ...labels } = pod.metadata.labels ?? {};
  return generation === undefined ? pod : { ...pod, metadata: { ...pod.metadata, labels } };
}
