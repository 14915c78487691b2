/** Creates the system PriorityClasses at each start (pkg/registry/scheduling/rest AddSystemPriorityClasses). */

import { SYSTEM_CLASSES } from '../../../shared/kube/pods/priority-class.js';
import { priorityClassKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { createdIfAbsent } from '../queue/bootstrap-write.js';

/** Resolves when both classes exist. Stored ones stay unchanged: no client can change their values. */
export async function ensureSystemPriorityClasses(registry: Registry): Promise<void> {
  await Promise.all(
    [...SYSTEM_CLASSES.values()].map((each) => createdIfAbsent(registry, priorityClassKind, each)),
  );
}
