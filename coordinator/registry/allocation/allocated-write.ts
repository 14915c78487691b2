/** Reserves what a write of a Service allocates, until the write is visible or has failed. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import type { Kind } from '../../kinds/kind.js';
import type { Allocation, RegistryDeps } from '../registry.js';

const NOTHING: Allocation = { settle: () => undefined };

/** True for kinds whose writes allocate. Await `ServiceAllocations.ready` before them. */
export function isAllocated(kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return kind.group === '' && kind.kind === 'Service';
}

/**
 * Allocates for the object that is about to replace `current`, in place on `next`. A terminating Service only
 * loses finalizers, and may share its spec with `current`.
 */
export function allocateFor<T extends KubeObject>(
  { services }: RegistryDeps,
  kind: Kind<T>,
  next: T,
  current: T | undefined,
): Allocation {
  if (!services || !isAllocated(kind) || next.metadata.deletionTimestamp) return NOTHING;
  return services.allocate(next as Service, current as Service | undefined);
}
