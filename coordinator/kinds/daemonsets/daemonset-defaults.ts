/** Defaults of DaemonSets (`pkg/apis/apps/v1/defaults.go`). */

import type { DaemonSet, DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';

const REVISION_HISTORY_LIMIT = 10;

/** Each of the two gets its default by itself, so `maxSurge: 1` alone meets `maxUnavailable: 1`, as upstream. */
function setStrategyDefaults(spec: DaemonSetSpec): void {
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= 'RollingUpdate';
  if (spec.updateStrategy.type !== 'RollingUpdate') return;
  spec.updateStrategy.rollingUpdate ??= {};
  spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
}

/** In place, stable. Afterwards spec, template and the template's spec are there. */
export function setDaemonSetDefaults(daemonSet: DaemonSet): void {
  const spec: Partial<DaemonSetSpec> = daemonSet.spec ?? {};
  const template = spec.template ?? { spec: { containers: [] } };
  setPodTemplateDefaults(template);
  daemonSet.spec = Object.assign(spec as DaemonSetSpec, { template });
  setStrategyDefaults(daemonSet.spec);
  daemonSet.spec.revisionHistoryLimit ??= REVISION_HISTORY_LIMIT;
}
