/** HostValues, and DaemonSets whose Pods use them. */

import { hostValuesKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import { renderedValues } from '../../../shared/kube/host-values/rendered-values.js';
import type { EnvVar } from '../../../shared/kube/pods/pod-types.js';
import type { DaemonFleet } from './daemon-fleet.js';

/** Creates the object, or replaces its spec. */
export async function putValues(fleet: DaemonFleet, name: string, spec: HostValuesSpec): Promise<void> {
  const ref = { namespace: 'default', name };
  if (fleet.informers.hostValues.get(ref)) {
    await fleet.registry.modify(hostValuesKind, ref, (stored): undefined => {
      stored.spec = spec;
    });
  } else await fleet.registry.create(hostValuesKind, 'default', { metadata: { name }, spec });
  await fleet.settle();
}

export function valueVariable(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}

/** Returns a change of a DaemonSet: its first container gets these variables. */
export function withVariables(...variables: EnvVar[]): (daemonSet: DaemonSet) => void {
  return ({ spec }) => {
    const [container] = spec.template.spec.containers;
    if (container) container.env = variables;
  };
}

/** Returns `name: value` of one path for each live Pod, by node. */
export function shownBy(fleet: DaemonFleet, path: string): Record<string, unknown> {
  const live = fleet.pods().filter(({ metadata }) => !metadata.deletionTimestamp);
  return Object.fromEntries(live.map((pod) => [pod.spec.nodeName, renderedValues(pod).get(path)]));
}

/** Returns the uid of the live Pod of each node. */
export function podUids(fleet: DaemonFleet): Record<string, string> {
  const live = fleet.pods().filter(({ metadata }) => !metadata.deletionTimestamp);
  return Object.fromEntries(live.map(({ spec, metadata }) => [spec.nodeName ?? '', metadata.uid ?? '']));
}
