/** Stops running containers of one Pod, with the kubelet's messages. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Steps, StopReason } from '../../decisions/pods/pod-step-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';

/** Shortest time between the signal and the kill (pkg/kubelet/kuberuntime minimumGracePeriodInSeconds). */
const MIN_GRACE_SECONDS = 2;
/** Delay before a failed stop is retried. */
const RETRY_MS = 10_000;

export class ContainerStops {
  readonly #deps: Pick<PodWorkerDeps, 'driver' | 'clock' | 'log'>;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  /** Called when a container has exited. */
  readonly #wake: () => void;

  constructor(deps: PodWorkerDeps, reporter: PodReporter, state: PodWorkerState, wake: () => void) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
    this.#wake = wake;
  }

  /** Emits the Event once and records by when the container must have exited. */
  startStopping(
    pod: Pod,
    id: string,
    container: string,
    { deadline, why }: { deadline: number; why: StopReason },
  ): void {
    const { endBy } = this.#state.progress;
    const known = endBy[id];
    endBy[id] = Math.min(deadline, known ?? deadline);
    if (known === undefined && container !== SANDBOX) this.#emitEvent(pod, container, why);
  }

  /** Sends the signals and waits in the background, so that a shorter grace period can still be applied. */
  stop(step: Steps['stop-containers'], pod: Pod, containers: readonly ObservedContainer[]): void {
    const seconds = Math.ceil((step.deadline - this.#deps.clock.now()) / 1000);
    for (const id of step.ids) {
      const container = containers.find((one) => one.id === id)?.identity.container ?? SANDBOX;
      this.startStopping(pod, id, container, step);
      this.#state.progress.stopping[id] = step.deadline;
      void this.#stopOne(id, Math.max(seconds, MIN_GRACE_SECONDS), step.deadline);
    }
  }

  async #stopOne(id: string, graceSeconds: number, deadline: number): Promise<void> {
    try {
      await this.#deps.driver.stop(id, graceSeconds);
    } catch (error) {
      this.#deps.log.warn({ id, err: error }, 'container did not stop; trying again');
      await new Promise<void>((resolve) => this.#deps.clock.after(RETRY_MS, resolve));
    }
    const { stopping } = this.#state.progress;
    if (stopping[id] === deadline) delete stopping[id];
    this.#wake();
  }

  #emitEvent(pod: Pod, container: string, why: StopReason): void {
    const reason = why === 'sandbox-lost' ? 'SandboxChanged' : 'Killing';
    const message = stopMessage(pod, container, why);
    this.#reporter.event(pod, { type: 'Normal', reason, message, container });
  }
}

function stopMessage({ spec }: Pod, container: string, why: StopReason): string {
  switch (why) {
    case 'deletion':
    case 'over':
      return `Stopping container ${container}`;
    case 'changed':
      return `Container ${container} definition changed, will be restarted`;
    case 'liveness':
    case 'startup': {
      const next = spec.restartPolicy === 'Never' ? '' : ', will be restarted';
      return `Container ${container} failed ${why} probe${next}`;
    }
    case 'post-start-failed':
      return 'FailedPostStartHook';
    case 'sandbox-lost':
      return 'Pod sandbox changed, it will be killed and re-created.';
  }
}
