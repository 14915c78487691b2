/** Termination messages of containers (pkg/kubelet/kuberuntime getTerminationMessage). */
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { allContainersOf, findContainer } from '../../decisions/pods/pod-containers.js';
import { type ObservedContainer, RuntimeError } from '../../runtime/runtime-driver.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';

const MAX_MESSAGE_BYTES = 4096;
/** Limit for the termination messages of all containers of a Pod. */
const MAX_POD_BYTES = 12 * 1024;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

/**
 * Returns the termination message of an exited container; '' without one. `FallbackToLogsOnError` uses the end of its
 * log. For a Pod of a DaemonJob it does so also after success, because the result of a host contains the output.
 */
export async function terminationMessageOf(
  deps: Pick<PodWorkerDeps, 'driver' | 'files'>,
  pod: Pod,
  ended: ObservedContainer,
): Promise<string> {
  const maxBytes = Math.min(MAX_MESSAGE_BYTES, Math.floor(MAX_POD_BYTES / allContainersOf(pod).length));
  const written = deps.files.readMessageFile(ended.identity, maxBytes);
  const policy = findContainer(pod, ended.identity.container)?.terminationMessagePolicy;
  const isShown = Boolean(ended.exitCode) || controllerOf(pod.metadata)?.kind === 'DaemonJob';
  if (written !== '' || policy !== 'FallbackToLogsOnError' || !isShown) return written;
  return endOfLog(deps, ended.id, Math.min(MAX_LOG_BYTES, maxBytes));
}

async function endOfLog(
  { driver }: Pick<PodWorkerDeps, 'driver'>,
  id: string,
  maxBytes: number,
): Promise<string> {
  const request = { follow: false, timestamps: false, tailLines: MAX_LOG_LINES };
  let end = Buffer.alloc(0);
  try {
    for await (const chunk of driver.logs(id, request, new AbortController().signal)) {
      end = Buffer.concat([end, chunk]).subarray(-maxBytes);
    }
  } catch (error) {
    // An unreadable log counts as no message. If the engine is down, the caller retries.
    if (!(error instanceof RuntimeError) || error.reason === 'EngineDown') throw error;
  }
  return end.toString('utf8');
}
