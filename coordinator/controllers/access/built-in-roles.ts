/** Creates or repairs the built-in ClusterRoles and bindings at each start (`rbac/rest/storage_rbac.go`). */

import type { Role, RoleBinding } from '../../../shared/kube/access/rbac-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from '../../decisions/access/bootstrap-roles.js';
import { repairedBinding, repairedRole } from '../../decisions/access/role-repair.js';
import { clusterRoleBindingKind, clusterRoleKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/** Resolves when all roles and bindings are complete. */
export async function ensureBuiltInRoles(registry: Registry): Promise<void> {
  await Promise.all([
    ...BOOTSTRAP_ROLES.map((role) => ensureRole(registry, role)),
    ...BOOTSTRAP_BINDINGS.map((binding) => ensureBinding(registry, binding)),
  ]);
}

async function ensureRole(registry: Registry, wanted: Role): Promise<void> {
  if (await createdIfAbsent(registry, clusterRoleKind, wanted)) return;
  await registry.modify(clusterRoleKind, { name: wanted.metadata.name }, (present) => {
    Object.assign(present, repairedRole(present, wanted));
    return undefined;
  });
}

async function ensureBinding(registry: Registry, wanted: RoleBinding): Promise<void> {
  const { name } = wanted.metadata;
  if (await createdIfAbsent(registry, clusterRoleBindingKind, wanted)) return;
  let isOfAnotherRole = false;
  await registry.modify(clusterRoleBindingKind, { name }, (present) => {
    const repaired = repairedBinding(present, wanted);
    isOfAnotherRole = repaired === undefined;
    Object.assign(present, repaired);
    return undefined;
  });
  if (!isOfAnotherRole) return;
  await registry.delete(clusterRoleBindingKind, { name });
  await registry.create(clusterRoleBindingKind, undefined, wanted);
}

/** Returns false if an object of that name exists. */
export async function createdIfAbsent<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  object: T,
): Promise<boolean> {
  try {
    await registry.create(kind, undefined, object);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') return false;
    throw error;
  }
}
