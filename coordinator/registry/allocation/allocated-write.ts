/** Reserves what a write of a Service allocates, until the write is visible or has failed. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import type { Kind } from '../../kinds/kind.js';
import { copyJson, sameJson } from '../encoding/json-value.js';
import type { Allocation, RegistryDeps } from '../registry.js';

const NOTHING: Allocation = { settle: () => undefined };

/** True for kinds whose writes allocate. Await `ServiceAllocations.ready` before them. */
export function isAllocated(kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return kind.group === '' && kind.kind === 'Service';
}

/**
 * Allocates for the object that is about to replace `current`, in place on `next`. A terminating Service that only loses
 * finalizers needs nothing, also if the range is full. Users may still change its spec and its relay ports.
 */
export function allocateFor<T extends KubeObject>(
  { services }: RegistryDeps,
  kind: Kind<T>,
  next: T,
  current: T | undefined,
): Allocation {
  if (!services || !isAllocated(kind)) return NOTHING;
  const service: Service = next;
  const stored: Service | undefined = current;
  if (service.metadata.deletionTimestamp) {
    if (stored && hasSameRequests(service, stored)) return NOTHING;
    // The decision may have left the spec of `current` in place.
    if (service.spec) service.spec = copyJson(service.spec);
  }
  return services.allocate(service, stored);
}

function hasSameRequests(one: Service, other: Service): boolean {
  return (
    sameJson(one.spec ?? {}, other.spec ?? {}) &&
    sameJson(one.metadata.annotations ?? {}, other.metadata.annotations ?? {})
  );
}
