/** Serves `kubectl logs` from the engine (pkg/kubelet/kubelet.go GetKubeletContainerLogs). */
import type { LogStreamRequest } from '../../shared/link/messages/link-messages.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { chooseAttempt } from '../decisions/containers/log-attempt.js';
import type { LogRequest, RuntimeDriver } from '../runtime/runtime-driver.js';

/** Why there is no log, with the kubelet's message. */
type LogRefusal = { kind: 'refused'; reason: 'NotFound' | 'BadRequest'; message: string };

type LogStream = { kind: 'stream'; bytes: AsyncIterable<Uint8Array> } | LogRefusal;

/** Opens a container's log. If followed, it ends with the container. `clock` is the engine's wall clock. */
export async function openLog(
  driver: Pick<RuntimeDriver, 'inspectPod' | 'logs'>,
  request: LogStreamRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<LogStream> {
  const containers = await driver.inspectPod(request.podUid);
  const chosen = chooseAttempt(containers, request.container, request.previous);
  if (chosen.kind === 'none') return { kind: 'refused', reason: 'BadRequest', message: chosen.message };
  const bytes = driver.logs(chosen.id, toLogRequest(request, clock.now()), signal);
  return {
    kind: 'stream',
    bytes: request.limitBytes === undefined ? bytes : limited(bytes, request.limitBytes),
  };
}

function toLogRequest(request: LogStreamRequest, now: number): LogRequest {
  const { follow, timestamps, tailLines, sinceSeconds, sinceTime } = request;
  const sinceMs = sinceSeconds === undefined ? Date.parse(sinceTime ?? '') : now - sinceSeconds * 1000;
  return {
    follow,
    timestamps,
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(Number.isNaN(sinceMs) ? {} : { sinceMs }),
  };
}

async function* limited(bytes: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array, void> {
  let left = limit;
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
