/**
 * One request to the engine for one container. A refusal is stored as the container's failure; success clears the
 * failure.
 */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { RuntimeError, SANDBOX } from '../../runtime/runtime-driver.js';
import { VolumeError } from '../../volumes/volume-error.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';

/** Reason of an invalid container configuration; the kubelet's ErrCreateContainerConfig. */
export const CONFIG_ERROR = 'CreateContainerConfigError';
/** Delay before a refused create or start is retried. */
const RETRY_MS = 10_000;

/** Describes the request, for the error of its refusal. */
interface EngineRequest {
  /** Container name in the Pod, or `SANDBOX`. */
  container: string;
  attempt: number;
  /** Reason of a refusal for which Kubernetes has none. */
  fallbackReason: string;
}

export class EngineAttempts {
  readonly #deps: Pick<PodWorkerDeps, 'clock' | 'log'>;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;

  constructor(deps: Pick<PodWorkerDeps, 'clock' | 'log'>, reporter: PodReporter, state: PodWorkerState) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
  }

  /** Throws only `RuntimeError` EngineDown and unexpected errors. */
  async run(pod: Pod, request: EngineRequest, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
      delete this.#state.progress.failures[request.container];
    } catch (error) {
      if (isEngineDown(error)) throw error;
      // This attempt already exists: the next inspection shows it.
      if (error instanceof RuntimeError && error.reason === 'Conflict') return;
      this.#refused(pod, request, error);
    }
  }

  #refused(pod: Pod, { container, attempt, fallbackReason }: EngineRequest, error: unknown): void {
    const { reason, message } = refusalOf(error, fallbackReason);
    const failedAt = this.#deps.clock.now();
    const retryAt = failedAt + RETRY_MS;
    this.#state.progress.failures[container] = { reason, message, failedAt, retryAt, attempt };
    if (container === SANDBOX) {
      const text = `Failed to create pod sandbox: ${message}`;
      this.#reporter.event(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message: text });
    }
    this.#deps.log.debug({ uid: pod.metadata.uid, container, reason, err: error }, 'step refused');
  }
}

function refusalOf(error: unknown, fallback: string): { reason: string; message: string } {
  if (error instanceof VolumeError) return { reason: CONFIG_ERROR, message: error.message };
  if (!(error instanceof RuntimeError)) throw error;
  const reason = error.reason === 'NotFound' ? fallback : error.reason;
  return { reason, message: error.message };
}

/** Returns true if the engine did not answer, in contrast to a refused request. */
export function isEngineDown(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'EngineDown';
}
