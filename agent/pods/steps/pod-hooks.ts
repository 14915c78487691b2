/** Runs the postStart and preStop hooks of one Pod's containers (pkg/kubelet/kuberuntime startContainer, executePreStopHook). */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Handler } from '../../../shared/kube/pods/probe-types.js';
import { findContainer } from '../../decisions/pods/pod-containers.js';
import type { Steps } from '../../decisions/pods/pod-step-types.js';
import type { ContainerLocalState } from '../../decisions/pods/pod-view.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';

/** A postStart hook may take any time, as upstream: the longest that a timer can wait, three weeks. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

/** One hook of one running container. */
interface Hook {
  kind: 'postStart' | 'preStop';
  handler: Handler;
  container: Container;
  id: string;
  podIP: string;
  deadlineMs: number;
}

export class PodHooks {
  readonly #host: Pick<PodWorkerDeps, 'handlers' | 'clock' | 'log'>;
  readonly #reporter: PodReporter;
  readonly #memory: PodWorkerState;
  /** Called when a hook has ended. */
  readonly #wake: () => void;

  constructor(host: PodWorkerDeps, reporter: PodReporter, memory: PodWorkerState, wake: () => void) {
    this.#host = host;
    this.#reporter = reporter;
    this.#memory = memory;
    this.#wake = wake;
  }

  /** Goes on in the background; the container's life tells when it is done, and how. */
  startPostStart({ id, container: name }: Steps['run-post-start'], pod: Pod, podIP: string): void {
    const container = findContainer(pod, name);
    const handler = container?.lifecycle?.postStart;
    if (!container || !handler) return;
    this.#change(id, { postStart: 'begun' });
    const hook: Hook = { kind: 'postStart', handler, container, id, podIP, deadlineMs: NO_DEADLINE_MS };
    void this.#run(hook, pod).then((succeeded) => {
      this.#change(id, { postStart: succeeded ? { doneAt: this.#host.clock.now() } : 'failed' });
      this.#wake();
    });
  }

  /** Goes on in the background, at most until the deadline; that it fails is told and changes nothing else. */
  startPreStop({ id, container: name, deadline }: Steps['run-pre-stop'], pod: Pod, podIP: string): void {
    const container = findContainer(pod, name);
    const handler = container?.lifecycle?.preStop;
    if (!container || !handler) return;
    this.#change(id, { preStop: 'begun' });
    const deadlineMs = Math.max(deadline - this.#host.clock.now(), 0);
    void this.#run({ kind: 'preStop', handler, container, id, podIP, deadlineMs }, pod).then(() => {
      this.#change(id, { preStop: 'done' });
      this.#wake();
    });
  }

  #change(id: string, change: ContainerLocalState): void {
    this.#memory.setLocalState(id, { ...this.#memory.localStateOf(id), ...change });
  }

  /** Whether it succeeded. What failed is for the log alone: a command's words may hold secrets. */
  async #run({ kind, handler, container, id, podIP, deadlineMs }: Hook, pod: Pod): Promise<boolean> {
    try {
      await this.#host.handlers.runHook(handler, { id, container, podIP }, deadlineMs);
      return true;
    } catch (error) {
      this.#host.log.info(
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
