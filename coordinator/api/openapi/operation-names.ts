/** Names of operations and their tags, from which code generators derive class and method names. */
import type { DiscoveredResource } from '../discovery/discovery-documents.js';

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, the core group → `Core`. */
function groupName(group: string): string {
  const words = (group || 'core').replace(/\.k8s\.io$/, '').split(/[.-]/);
  return words.map(capitalised).join('');
}

/** Returns for example `rbacAuthorization_v1`. */
export function operationTag({ group, version }: Pick<DiscoveredResource, 'group' | 'version'>): string {
  const name = groupName(group);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
}

interface NamedOperation {
  /** `list`, `read`, `create` … or `connect`. */
  action: string;
  /** Precedes `Namespaced`, for example `Collection`, or the method of a `connect`. */
  infix?: string;
  subresource?: string;
  isAcrossNamespaces?: boolean;
}

/**
 * Returns upstream's operationId, for example `deleteAppsV1CollectionNamespacedDaemonSet` (k8s.io/apiserver
 * `pkg/endpoints/openapi/openapi.go`, `pkg/endpoints/installer.go`).
 */
export function operationId(resource: DiscoveredResource, operation: NamedOperation): string {
  const { action, infix = '', subresource = '', isAcrossNamespaces = false } = operation;
  const scope = resource.namespaced && !isAcrossNamespaces ? 'Namespaced' : '';
  const group = groupName(resource.group) + capitalised(resource.version);
  const suffix = isAcrossNamespaces ? 'ForAllNamespaces' : '';
  return `${action}${group}${infix}${scope}${resource.kind}${capitalised(subresource)}${suffix}`;
}
