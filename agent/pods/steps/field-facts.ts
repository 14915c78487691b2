/** What a Pod may be told of itself and of its host: in its environment, and in the files of its volumes. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { EnvironmentFacts } from '../../decisions/container-spec/container-environment.js';
import type { FileFacts } from '../../decisions/container-spec/volume-files.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';

/** As it is now. `podIP`: empty while the Pod has no address. */
export function fieldFacts(
  host: Pick<PodWorkerDeps, 'facts' | 'findConfig' | 'tokens' | 'apiServer'>,
  pod: Pod,
  podIP: string,
): EnvironmentFacts & FileFacts {
  const { nodeName, hostIP = '', allocatable } = host.facts();
  const { findConfig, tokens, apiServer } = host;
  return {
    nodeName,
    hostIP,
    podIP,
    allocatable,
    findConfig,
    ...(tokens ? { findToken: (uid, source) => tokens.find(uid, source) } : {}),
    ...(apiServer ? { apiServer: reachableApi(apiServer, pod, hostIP) } : {}),
  };
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A coordinator on this very host is found by the host's address from a network of the Pod's own. */
function reachableApi(server: URL, { spec }: Pod, hostIP: string): { host: string; port: string } {
  const isOutOfReach = LOOPBACK.has(server.hostname) && !spec.hostNetwork && hostIP !== '';
  const host = isOutOfReach ? hostIP : server.hostname.replace(/^\[|\]$/g, '');
  return { host, port: server.port || '443' };
}
