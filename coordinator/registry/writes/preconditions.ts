/** Preconditions of a write (`rest.BeforeDelete`). */

import { conflict, type ResourceNames } from '../../../shared/kube/objects/api-status.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { Preconditions } from '../registry.js';

/** Throws a 409 when the present object is not the one that the client has in mind. */
export function checkPreconditions(
  names: ResourceNames,
  present: ObjectMeta,
  preconditions: Preconditions | undefined,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== present.uid) {
    const detail = `the UID in the precondition (${uid}) does not match the UID in record (${present.uid}). The object might have been deleted and then recreated`;
    throw conflict(names, present.name, detail);
  }
  if (resourceVersion !== undefined && resourceVersion !== present.resourceVersion) {
    const detail = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${present.resourceVersion}). The object might have been modified`;
    throw conflict(names, present.name, detail);
  }
}
