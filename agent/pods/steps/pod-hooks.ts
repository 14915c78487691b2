/** Runs the postStart and preStop hooks of one Pod's containers (pkg/kubelet/kuberuntime startContainer, executePreStopHook). */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Handler } from '../../../shared/kube/pods/probe-types.js';
import { findContainer } from '../../decisions/pods/pod-containers.js';
import type { Steps } from '../../decisions/pods/pod-step-types.js';
import type { ContainerLocalState } from '../../decisions/pods/pod-view.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';

/** A postStart hook has no deadline, like in a kubelet. This is the longest delay of a timer, about three weeks. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

interface Hook {
  kind: 'postStart' | 'preStop';
  handler: Handler;
  container: Container;
  id: string;
  podIP: string;
  deadlineMs: number;
}

export class PodHooks {
  readonly #deps: Pick<PodWorkerDeps, 'handlers' | 'clock' | 'log'>;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  /** Called when a hook has ended. */
  readonly #wake: () => void;

  constructor(deps: PodWorkerDeps, reporter: PodReporter, state: PodWorkerState, wake: () => void) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
    this.#wake = wake;
  }

  /** Runs in the background; the result is in the container's local state. */
  startPostStart({ id, container: name }: Steps['run-post-start'], pod: Pod, podIP: string): void {
    const container = findContainer(pod, name);
    const handler = container?.lifecycle?.postStart;
    if (!container || !handler) return;
    this.#change(id, { postStart: 'begun' });
    const hook: Hook = { kind: 'postStart', handler, container, id, podIP, deadlineMs: NO_DEADLINE_MS };
    void this.#run(hook, pod).then((succeeded) => {
      this.#change(id, { postStart: succeeded ? { doneAt: this.#deps.clock.now() } : 'failed' });
      this.#wake();
    });
  }

  /** Runs in the background until the deadline at most. A failure only emits an Event. */
  startPreStop({ id, container: name, deadline }: Steps['run-pre-stop'], pod: Pod, podIP: string): void {
    const container = findContainer(pod, name);
    const handler = container?.lifecycle?.preStop;
    if (!container || !handler) return;
    this.#change(id, { preStop: 'begun' });
    const deadlineMs = Math.max(deadline - this.#deps.clock.now(), 0);
    void this.#run({ kind: 'preStop', handler, container, id, podIP, deadlineMs }, pod).then(() => {
      this.#change(id, { preStop: 'done' });
      this.#wake();
    });
  }

  #change(id: string, change: ContainerLocalState): void {
    this.#state.setLocalState(id, { ...this.#state.localStateOf(id), ...change });
  }

  /** Resolves with true on success. The error is only logged, because a command's output may contain secrets. */
  async #run({ kind, handler, container, id, podIP, deadlineMs }: Hook, pod: Pod): Promise<boolean> {
    try {
      await this.#deps.handlers.runHook(handler, { id, container, podIP }, deadlineMs);
      return true;
    } catch (error) {
      this.#deps.log.info(
        { uid: pod.metadata.uid, container: container.name, kind, err: error },
        'hook failed',
      );
      const name = kind === 'postStart' ? 'PostStartHook' : 'PreStopHook';
      this.#reporter.event(pod, {
        type: 'Warning',
        reason: `Failed${name}`,
        message: `${name} failed`,
        container: container.name,
      });
      return false;
    }
  }
}
