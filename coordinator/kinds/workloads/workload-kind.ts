/** What the kinds of this folder share: columns, the scale subresource, defaults and generations. */

import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';
import { setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { selectorText } from '../../../shared/kube/workloads/scale.js';
import { type Column, STATUS_VERBS } from '../kind.js';
import { NONE, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

interface Workload extends KubeObject {
  spec: { selector: LabelSelector; template: PodTemplateSpec };
}

export const SCALE_SUBRESOURCE = { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: STATUS_VERBS };

/** The columns of `-o wide`. */
export function templateColumns<T extends Workload>(): Column<T>[] {
  return [
    wideColumn('Containers', 'string', 'Names of the containers.', ({ spec }) =>
      spec.template.spec.containers.map((container) => container.name).join(','),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', ({ spec }) =>
      spec.template.spec.containers.map((container) => container.image).join(','),
    ),
    wideColumn(
      'Selector',
      'string',
      'Which Pods are its own.',
      ({ spec }) => selectorText(spec.selector) || NONE,
    ),
  ];
}

/** Raises the generation if `spec` differs. */
export function countGeneration(next: Workload, current: Workload): void {
  const changed = !semanticallyEqual(next.spec, current.spec);
  next.metadata.generation = (current.metadata.generation ?? 0) + (changed ? 1 : 0);
}

/** Afterwards `spec`, the template and its spec exist (`pkg/apis/apps/v1/defaults.go`). */
export function setWorkloadDefaults(object: Workload & { spec: { replicas?: number } }): void {
  const spec: Partial<Workload['spec']> & { replicas?: number } = object.spec ?? {};
  const template = spec.template ?? { spec: { containers: [] } };
  setPodTemplateDefaults(template);
  object.spec = Object.assign(spec as Workload['spec'], { template });
  object.spec.replicas ??= 1;
}
