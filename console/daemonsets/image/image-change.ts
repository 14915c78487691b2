/** A DaemonSet with another image in one container. Pure. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';

/** Returns a copy. Unchanged if there is no such container. */
export function withImage(daemonSet: DaemonSet, container: string, image: string): DaemonSet {
  const { template } = daemonSet.spec;
  const containers = template.spec.containers.map((each) =>
    each.name === container ? { ...each, image: image.trim() } : each,
  );
  return {
    ...daemonSet,
    spec: { ...daemonSet.spec, template: { ...template, spec: { ...template.spec, containers } } },
  };
}
