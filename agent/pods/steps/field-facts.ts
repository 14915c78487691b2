/** Facts about a Pod and its host for environment variables and volume files. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { EnvironmentFacts } from '../../decisions/container-spec/container-environment.js';
import type { FileFacts } from '../../decisions/container-spec/volume-files.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';

/** Returns the current facts. `podIP`: empty while the Pod has no address. */
export function fieldFacts(
  deps: Pick<PodWorkerDeps, 'facts' | 'findConfig' | 'tokens' | 'apiServer'>,
  pod: Pod,
  podIP: string,
): EnvironmentFacts & FileFacts {
  const { nodeName, hostIP = '', allocatable } = deps.facts();
  const { findConfig, tokens, apiServer } = deps;
  return {
    nodeName,
    hostIP,
    podIP,
    allocatable,
    findConfig,
    ...(tokens ? { findToken: (uid, source) => tokens.find(uid, source) } : {}),
    ...(apiServer ? { apiServer: reachableApi(apiServer(), pod, hostIP) } : {}),
  };
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Replaces a loopback address of the coordinator by the host's address, which containers in their own network can
 * reach.
 */
function reachableApi(server: URL, { spec }: Pod, hostIP: string): { host: string; port: string } {
  const isOutOfReach = LOOPBACK.has(server.hostname) && !spec.hostNetwork && hostIP !== '';
  const deps = isOutOfReach ? hostIP : server.hostname.replace(/^\[|\]$/g, '');
  return { host: deps, port: server.port || '443' };
}
