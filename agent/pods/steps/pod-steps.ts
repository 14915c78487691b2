/** Performs the steps that `nextAction` returns for one Pod. A reconciliation can continue after each of them. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { AssignedPod } from '../../decisions/pods/assigned-pod.js';
import { containerRole, findContainer } from '../../decisions/pods/pod-containers.js';
import type { NextAction, Steps } from '../../decisions/pods/pod-step-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import { JobRunRecord } from '../job-run-record.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';
import { ContainerCreation } from './container-creation.js';
import { ContainerStops } from './container-stops.js';
import { CONFIG_ERROR, EngineAttempts } from './engine-attempts.js';
import { fieldFacts } from './field-facts.js';
import { PodHooks } from './pod-hooks.js';
import { PodImagePulls } from './pod-image-pulls.js';
import { VolumeSteps } from './volume-steps.js';

interface StepTarget {
  assigned: AssignedPod;
  containers: readonly ObservedContainer[];
  /** Empty while the Pod has no address. */
  podIP: string;
}

/** `engine`: containers changed, inspect again; `memory`: only the worker's state changed. */
type BackgroundEffect = 'engine' | 'memory';

/** `done`: no further step is possible now; `created`: this container was created but not started. */
type StepEffect = BackgroundEffect | 'done' | { created: ObservedContainer };

type Performers = { [Kind in keyof Steps]: (step: Steps[Kind], target: StepTarget) => Promise<StepEffect> };

export class PodSteps {
  readonly #deps: PodWorkerDeps;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  readonly #attempts: EngineAttempts;
  readonly #creation: ContainerCreation;
  readonly #volumes: VolumeSteps;
  readonly #images: PodImagePulls;
  readonly #hooks: PodHooks;
  readonly #stops: ContainerStops;
  readonly #jobRun: JobRunRecord;

  readonly #performers: Performers = {
    wait: async () => 'done',
    'prepare-volumes': async (_, { assigned: { pod } }) => {
      await this.#volumes.prepare(pod, fieldFacts(this.#deps, pod, ''));
      return 'memory';
    },
    'refresh-volumes': async (_, { assigned: { pod } }) => {
      await this.#volumes.refresh(pod, fieldFacts(this.#deps, pod, ''));
      return 'memory';
    },
    'ensure-image': async ({ container }, { assigned }) => {
      this.#images.startEnsure(assigned.pod, containerOf(assigned.pod, container));
      return 'memory';
    },
    'create-sandbox': async (step, { assigned }) => {
      await this.#creation.createSandbox(step, assigned.pod);
      return 'engine';
    },
    'create-container': (step, target) => this.#createContainer(step, target),
    'start-container': (step, target) => this.#start(step, target.assigned.pod),
    'run-post-start': async (step, { assigned, podIP }) => {
      this.#hooks.startPostStart(step, assigned.pod, podIP);
      return 'memory';
    },
    'run-pre-stop': async (step, { assigned, podIP }) => {
      this.#stops.startStopping(assigned.pod, step.id, step.container, step);
      this.#hooks.startPreStop(step, assigned.pod, podIP);
      return 'memory';
    },
    'stop-containers': async (step, { assigned, containers }) => {
      this.#stops.stop(step, assigned.pod, containers);
      return 'memory';
    },
    'remove-containers': (step, target) => this.#remove(step, target),
    'remove-volumes': async (_, { assigned: { uid } }) => {
      await this.#volumes.remove(uid);
      return 'memory';
    },
    reject: async () => 'done',
    admit: async () => 'memory',
    preempt: async () => 'done',
    replace: async () => 'done',
    'exceed-deadline': async () => 'done',
    finish: async () => 'done',
  };

  /** `wake` is called when background work has changed the worker's state or the containers. */
  constructor(
    deps: PodWorkerDeps,
    reporter: PodReporter,
    state: PodWorkerState,
    wake: (changed: BackgroundEffect) => void,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#jobRun = new JobRunRecord(deps.jobRuns);
    this.#reporter = reporter;
    this.#state = state;
    this.#attempts = new EngineAttempts(deps, reporter, state);
    this.#creation = new ContainerCreation(deps, reporter, state);
    this.#volumes = new VolumeSteps(deps, reporter, state);
    this.#images = new PodImagePulls(deps, reporter, state, wake, signal);
    this.#hooks = new PodHooks(deps, reporter, state, () => wake('memory'));
    this.#stops = new ContainerStops(deps, reporter, state, () => wake('engine'));
  }

  /** Throws only `RuntimeError` EngineDown and unexpected errors. */
  perform(action: NextAction, target: StepTarget): Promise<StepEffect> {
    const perform = this.#performers[action.kind] as (
      step: NextAction,
      target: StepTarget,
    ) => Promise<StepEffect>;
    return perform(action, target);
  }

  /** Retries steps that failed because of a ConfigMap, a Secret or a field of the Pod, which has changed now. */
  onContentChanged(): void {
    this.#volumes.onContentChanged();
    const { failures } = this.#state.progress;
    for (const [name, { reason }] of Object.entries(failures)) {
      if (reason === CONFIG_ERROR) delete failures[name];
    }
  }

  async #createContainer(
    step: Steps['create-container'],
    { assigned: { pod }, containers }: StepTarget,
  ): Promise<StepEffect> {
    const podIP = containers.find(({ id }) => id === step.sandboxID)?.ip ?? '';
    const container = containerOf(pod, step.container);
    const created = await this.#creation.createContainer(step, pod, container, podIP);
    return created ? { created } : 'engine';
  }

  async #start(step: Steps['start-container'], pod: Pod): Promise<StepEffect> {
    const { id, container, attempt } = step;
    if (!(await this.#deps.volumes.hasMounts(pod.metadata.uid ?? '', container))) {
      // The container was created before a reboot and its mounts are gone. Remove it, and it is created again.
      await this.#deps.driver.remove(id);
      this.#state.dropLocalState(id);
      return 'engine';
    }
    // On disk before the start: a power cut after it must not start the Pod again.
    await this.#jobRun.beforeStart({ uid: pod.metadata.uid ?? '', pod }, container);
    if (containerRole(pod, container) === 'ephemeral') this.#state.recordEphemeral(id, { name: container });
    const request = { container, attempt, fallbackReason: 'RunContainerError' };
    await this.#attempts.run(pod, request, () => this.#deps.driver.start(id));
    if (container === SANDBOX) return 'engine';
    const failure = ownValue(this.#state.progress.failures, container);
    this.#reporter.event(
      pod,
      failure
        ? { type: 'Warning', reason: 'Failed', message: `Error: ${failure.message}`, container }
        : { type: 'Normal', reason: 'Started', message: `Started container ${container}`, container },
    );
    return 'engine';
  }

  async #remove({ ids }: Steps['remove-containers'], { containers }: StepTarget): Promise<StepEffect> {
    await Promise.all(ids.map((id) => this.#deps.driver.remove(id)));
    for (const { id, identity } of containers) {
      if (ids.includes(id)) this.#deps.files.removeMessageFile(identity);
    }
    return 'engine';
  }
}

function containerOf(pod: Pod, name: string): Container {
  const container = findContainer(pod, name);
  if (!container) throw new Error(`Pod ${pod.metadata.name} has no container ${name}`);
  return container;
}
