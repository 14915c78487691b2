/** Selects the container of a request for a Pod's log or process. */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * Returns the requested container, or the only one (`pkg/registry/core/pod/strategy.go` LogLocation, streamLocation).
 * Throws 400.
 */
export function chosenContainer(pod: Pod, requested: string | null): string {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const { name } = pod.metadata;
  if (requested) {
    const all = [...initContainers, ...containers, ...ephemeralContainers];
    if (all.some((container) => container.name === requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${name}`);
  }
  const [only, ...others] = containers;
  if (only && others.length === 0) return only.name;
  const before =
    initContainers.length > 0 ? ` or one of the init containers: [${namesOf(initContainers)}]` : '';
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${namesOf(containers)}]${before}`,
  );
}

function namesOf(containers: readonly { name: string }[]): string {
  return containers.map(({ name }) => name).join(' ');
}
