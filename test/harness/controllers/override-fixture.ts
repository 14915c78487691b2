/** DaemonSetOverrides in a fleet with simulated agents. */

import { daemonSetOverrideKind } from '../../../coordinator/kinds/index.js';
import type {
  ContainerOverride,
  DaemonSetOverrideSpec,
} from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonFleet } from './daemon-fleet.js';

/** An override of DaemonSet `web`. */
export type OverrideChange = Omit<DaemonSetOverrideSpec, 'daemonSetName'>;

/** Creates an override of DaemonSet `web`, or replaces its spec. */
export async function putOverride(fleet: DaemonFleet, name: string, change: OverrideChange): Promise<void> {
  const ref = { namespace: 'default', name };
  const spec = { daemonSetName: 'web', ...change };
  if (fleet.informers.daemonSetOverrides.get(ref)) {
    await fleet.registry.modify(daemonSetOverrideKind, ref, (stored): undefined => {
      stored.spec = spec;
    });
  } else await fleet.registry.create(daemonSetOverrideKind, 'default', { metadata: { name }, spec });
  await fleet.settle();
}

export async function deleteOverride(fleet: DaemonFleet, name: string): Promise<void> {
  await fleet.registry.delete(daemonSetOverrideKind, { namespace: 'default', name });
  await fleet.settle();
}

/** Returns a change of the fixtures' only container. */
export function onApp(change: Omit<ContainerOverride, 'name'>): OverrideChange {
  return { containers: [{ name: 'app', ...change }] };
}
