/**
 * Writes to `pods/NAME/ephemeralcontainers` (`pkg/registry/core/pod/strategy.go` podEphemeralContainersStrategy,
 * `pkg/apis/core/validation` ValidatePodEphemeralContainersUpdate).
 */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { FieldError } from '../kind.js';
import { forbidden } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const FIELD = 'spec.ephemeralContainers';

/** Reverts every other change of the body, in place, and counts the generation. */
export function prepareForEphemeralContainers(next: Pod, current: Pod): void {
  const { ephemeralContainers } = next.spec;
  next.spec = { ...current.spec };
  if (ephemeralContainers) next.spec.ephemeralContainers = ephemeralContainers;
  else delete next.spec.ephemeralContainers;
  next.status = current.status ?? {};
  next.metadata = { ...current.metadata };
  delete next.metadata.resourceVersion;
  const changed = !semanticallyEqual(ephemeralContainers ?? [], current.spec.ephemeralContainers ?? []);
  next.metadata.generation = (current.metadata.generation ?? 0) + (changed ? 1 : 0);
}

/** Returns the errors of the change: ephemeral containers can be added, but neither changed nor removed. */
export function validateEphemeralContainersUpdate(next: Pod, current: Pod): FieldError[] {
  if (staticPodUid(current) !== undefined) {
    return [forbidden('', 'static pods do not support ephemeral containers')];
  }
  const wanted = new Map(next.spec.ephemeralContainers?.map((each) => [each.name, each]));
  return (current.spec.ephemeralContainers ?? []).flatMap((before) => {
    const after = wanted.get(before.name);
    const which = `existing ephemeral containers ${JSON.stringify(before.name)}`;
    if (!after) return [forbidden(FIELD, `${which} may not be removed`)];
    return semanticallyEqual(after, before) ? [] : [forbidden(FIELD, `${which} may not be changed`)];
  });
}
