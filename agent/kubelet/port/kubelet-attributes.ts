/** The access that a request to the kubelet's port needs (pkg/kubelet/server/auth.go `GetRequestAttributes`). */

export interface KubeletAccess {
  verb: string;
  node: string;
  subresource: string;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** One subresource alone. */
const EXCLUSIVE: readonly (readonly [path: string, subresource: string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
];

/** The subresource, or else `proxy` (KubeletFineGrainedAuthz). */
const FINE_GRAINED: readonly (readonly [path: string, subresource: string])[] = [
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
];

/** Returns the accesses of which one suffices. */
export function kubeletAttributes(method: string, path: string, node: string): KubeletAccess[] {
  const verb = VERBS[method] ?? '';
  return subresourcesOf(path).map((subresource) => ({ verb, node, subresource }));
}

function subresourcesOf(path: string): string[] {
  const exclusive = EXCLUSIVE.find(([prefix]) => isBelow(path, prefix));
  if (exclusive) return [exclusive[1]];
  const fine = FINE_GRAINED.find(([prefix]) => isBelow(path, prefix));
  return fine ? [fine[1], 'proxy'] : ['proxy'];
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
