/** Creates or repairs the built-in ClusterRoles and bindings at each start (`rbac/rest/storage_rbac.go`). */

import type { Role, RoleBinding } from '../../../shared/kube/access/rbac-types.js';
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from '../../decisions/access/bootstrap-roles.js';
import { repairedBinding, repairedRole } from '../../decisions/access/role-repair.js';
import { clusterRoleBindingKind, clusterRoleKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { BOOTSTRAP, createdIfAbsent } from '../queue/bootstrap-write.js';

/** Resolves when all roles and bindings are complete. */
export async function ensureBuiltInRoles(registry: Registry): Promise<void> {
  await Promise.all([
    ...BOOTSTRAP_ROLES.map((role) => ensureRole(registry, role)),
    ...BOOTSTRAP_BINDINGS.map((binding) => ensureBinding(registry, binding)),
  ]);
}

async function ensureRole(registry: Registry, wanted: Role): Promise<void> {
  if (await createdIfAbsent(registry, clusterRoleKind, wanted)) return;
  await registry.modify(
    clusterRoleKind,
    { name: wanted.metadata.name },
    (present) => {
      Object.assign(present, repairedRole(present, wanted));
      return undefined;
    },
    BOOTSTRAP,
  );
}

async function ensureBinding(registry: Registry, wanted: RoleBinding): Promise<void> {
  const { name } = wanted.metadata;
  if (await createdIfAbsent(registry, clusterRoleBindingKind, wanted)) return;
  let isOfAnotherRole = false;
  await registry.modify(
    clusterRoleBindingKind,
    { name },
    (present) => {
      const repaired = repairedBinding(present, wanted);
      isOfAnotherRole = repaired === undefined;
      Object.assign(present, repaired);
      return undefined;
    },
    BOOTSTRAP,
  );
  if (!isOfAnotherRole) return;
  await registry.delete(clusterRoleBindingKind, { name }, BOOTSTRAP);
  await registry.create(clusterRoleBindingKind, undefined, wanted, BOOTSTRAP);
}
