/** Performs the steps that `nextAction` names, for one Pod. Each ends where a later look can go on from. */
import type { Container, Pod } from '../../shared/kube/pod.js';
import { containerConfig, sandboxConfig } from '../decisions/container-config.js';
import { asCreated } from '../decisions/created-container.js';
import { type EnvironmentFacts, environmentOf } from '../decisions/environment.js';
import type { HeldPod } from '../decisions/held-pod.js';
import { isolationShortfalls } from '../decisions/isolation-shortfall.js';
import { hostnameRefusal } from '../decisions/namespaces.js';
import { findContainer } from '../decisions/pod-containers.js';
import type { NextAction, Steps } from '../decisions/steps.js';
import type { FileFacts } from '../decisions/volume-files.js';
import {
  type ContainerConfig,
  type Mount,
  type ObservedContainer,
  RuntimeError,
  SANDBOX,
} from '../runtime/driver.js';
import { VolumeError } from '../volumes/volume-error.js';
import { isEngineDown } from './engine-down.js';
import { portInUse } from './host-port-check.js';
import { PodHooks } from './pod-hooks.js';
import type { PodHost } from './pod-host.js';
import { PodImages } from './pod-images.js';
import type { PodMemory } from './pod-memory.js';
import type { PodReporter } from './pod-reporter.js';
import { PodStops } from './pod-stops.js';
import { VolumeSteps } from './volume-steps.js';

/** How long a refused create or start is left alone. */
const RETRY_MS = 10_000;
const DEFAULT_MESSAGE_PATH = '/dev/termination-log';
const CONFIG_ERROR = 'CreateContainerConfigError';

/** What a step is told about its Pod as it is performed. */
export interface StepTarget {
  held: HeldPod;
  containers: readonly ObservedContainer[];
  /** Empty while the Pod has no address. */
  podIP: string;
}

/** `engine`: containers changed, look again; `memory`: only what the worker knows. */
type BackgroundEffect = 'engine' | 'memory';

/** `done`: nothing is left to do; `created`: there is one container more, not started yet. */
export type StepEffect = BackgroundEffect | 'done' | { created: ObservedContainer };

type Performers = { [Kind in keyof Steps]: (step: Steps[Kind], target: StepTarget) => Promise<StepEffect> };

/** The steps of one Pod, and what they have come to in its memory. */
export class PodSteps {
  readonly #host: PodHost;
  readonly #reporter: PodReporter;
  readonly #memory: PodMemory;
  readonly #volumes: VolumeSteps;
  readonly #images: PodImages;
  readonly #hooks: PodHooks;
  readonly #stops: PodStops;

  readonly #performers: Performers = {
    wait: async () => 'done',
    'prepare-volumes': async (_, { held: { pod } }) => {
      await this.#volumes.prepare(pod, this.#fieldFacts(pod, ''));
      return 'memory';
    },
    'refresh-volumes': async (_, { held: { pod } }) => {
      await this.#volumes.refresh(pod, this.#fieldFacts(pod, ''));
      return 'memory';
    },
    'ensure-image': async ({ container }, { held }) => {
      this.#images.startEnsure(held.pod, containerOf(held.pod, container));
      return 'memory';
    },
    'create-sandbox': (step, target) => this.#createSandbox(step, target.held.pod),
    'create-container': (step, target) => this.#createContainer(step, target),
    'start-container': (step, target) => this.#start(step, target.held.pod),
    'run-post-start': async (step, { held, podIP }) => {
      this.#hooks.startPostStart(step, held.pod, podIP);
      return 'memory';
    },
    'run-pre-stop': async (step, { held, podIP }) => {
      this.#stops.begin(held.pod, step.id, step.container, step);
      this.#hooks.startPreStop(step, held.pod, podIP);
      return 'memory';
    },
    'stop-containers': async (step, { held, containers }) => {
      this.#stops.stop(step, held.pod, containers);
      return 'memory';
    },
    'remove-containers': (step, target) => this.#remove(step, target),
    'remove-volumes': async (_, { held: { uid } }) => {
      await this.#volumes.remove(uid);
      return 'memory';
    },
    reject: async () => 'done',
    'exceed-deadline': async () => 'done',
    finish: async () => 'done',
  };

  /** `wake` is called when work in the background has changed what the worker knows, or the containers as well. */
  constructor(
    host: PodHost,
    reporter: PodReporter,
    memory: PodMemory,
    wake: (changed: BackgroundEffect) => void,
    signal: AbortSignal,
  ) {
    this.#host = host;
    this.#reporter = reporter;
    this.#memory = memory;
    this.#volumes = new VolumeSteps(host, reporter, memory);
    this.#images = new PodImages(host, reporter, memory, wake, signal);
    this.#hooks = new PodHooks(host, reporter, memory, () => wake('memory'));
    this.#stops = new PodStops(host, reporter, memory, () => wake('engine'));
  }

  /** Throws only what is nobody's fault in particular: `RuntimeError` EngineDown, and the unexpected. */
  perform(action: NextAction, target: StepTarget): Promise<StepEffect> {
    const perform = this.#performers[action.kind] as (
      step: NextAction,
      target: StepTarget,
    ) => Promise<StepEffect>;
    return perform(action, target);
  }

  /** A ConfigMap, a Secret or a field of the Pod is another now: what was refused for it is tried again. */
  contentChanged(): void {
    this.#volumes.contentChanged();
    const { failures } = this.#memory.progress;
    for (const [name, { reason }] of Object.entries(failures)) {
      if (reason === CONFIG_ERROR) delete failures[name];
    }
  }

  #fieldFacts(pod: Pod, podIP: string): EnvironmentFacts & FileFacts {
    const { nodeName, hostIP = '', allocatable } = this.#host.facts();
    const { findConfig, tokens, apiServer } = this.#host;
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

  async #createSandbox(step: Steps['create-sandbox'], pod: Pod): Promise<StepEffect> {
    return this.#attempt(pod, SANDBOX, step.attempt, 'CreatePodSandboxError', async () => {
      const { bootMark, isolation, resolver: hostResolver } = this.#host.facts();
      const refusal = hostnameRefusal(pod);
      if (refusal) throw new RuntimeError('CreatePodSandboxError', refusal, false);
      const image = await this.#host.driver.ensureSandboxImage();
      const config = sandboxConfig(pod, image, { ...step, bootMark, isolation, hostResolver });
      await this.#assertPortsFree(config);
      const id = await this.#host.driver.create(config);
      await this.#host.driver.start(id);
    });
  }

  async #createContainer(step: Steps['create-container'], target: StepTarget): Promise<StepEffect> {
    const { pod } = target.held;
    const container = containerOf(pod, step.container);
    const warn = (message: string): void =>
      this.#reporter.event(pod, {
        type: 'Warning',
        reason: 'IsolationReduced',
        message,
        container: container.name,
      });
    let created: ObservedContainer | undefined;
    const effect = await this.#attempt(
      pod,
      container.name,
      step.attempt,
      'CreateContainerError',
      async () => {
        const config = await this.#configOf(pod, container, step, target);
        await this.#assertPortsFree(config);
        for (const text of isolationShortfalls(pod, container, this.#host.facts().isolation)) warn(text);
        const id = await this.#host.driver.create(config, warn);
        created = asCreated(id, config, this.#host.clock.now());
        // The next attempt asks for its image anew, as its policy wants.
        delete this.#memory.progress.images[container.name];
        const message = `Created container: ${container.name}`;
        this.#reporter.event(pod, { type: 'Normal', reason: 'Created', message, container: container.name });
      },
    );
    return created ? { created } : effect;
  }

  async #configOf(
    pod: Pod,
    container: Container,
    step: Steps['create-container'],
    target: StepTarget,
  ): Promise<ContainerConfig> {
    const { bootMark, isolation, resolver: hostResolver } = this.#host.facts();
    const sandbox = target.containers.find(({ id }) => id === step.sandboxID);
    const facts = this.#fieldFacts(pod, sandbox?.ip ?? '');
    const environment = environmentOf(pod, container, facts);
    if (environment.kind === 'refused') throw new RuntimeError(CONFIG_ERROR, environment.message, false);
    const mounts = await this.#mountsOf(pod, container, step.attempt, environment.values);
    const image = this.#memory.progress.images[container.name];
    const { user: imageUser = '', engineName } = image?.kind === 'ready' ? image : {};
    const engineImage = engineName ? { engineImage: engineName } : {};
    const host = { bootMark, isolation, hostResolver };
    const context = { ...step, ...facts, ...host, mounts, imageUser, ...engineImage };
    const result = containerConfig(pod, container, context);
    if (result.kind === 'config') return result.config;
    throw new RuntimeError(CONFIG_ERROR, result.message, false);
  }

  /** Of a first attempt: a later one follows its own kind, whose ports the engine may not have let go of yet. */
  async #assertPortsFree({ ports, identity }: ContainerConfig): Promise<void> {
    if (identity.attempt > 0 || this.#host.facts().engine === 'hollow') return;
    const trouble = await portInUse(ports);
    if (trouble) throw new RuntimeError('CreateContainerError', trouble, true);
  }

  /** Its volumes, and the file for its last words. */
  async #mountsOf(
    pod: Pod,
    container: Container,
    attempt: number,
    environment: ReadonlyMap<string, string>,
  ): Promise<Mount[]> {
    const mounts = await this.#host.volumes.mountsOf(pod, container, environment);
    const { uid = '', namespace = '', name } = pod.metadata;
    const identity = {
      podUid: uid,
      podNamespace: namespace,
      podName: name,
      container: container.name,
      attempt,
    };
    const hostPath = this.#host.files.makeMessage(identity);
    if (hostPath === undefined) return mounts;
    const containerPath = container.terminationMessagePath || DEFAULT_MESSAGE_PATH;
    return [...mounts, { hostPath, containerPath, readOnly: false, propagation: 'private' }];
  }

  async #start(step: Steps['start-container'], pod: Pod): Promise<StepEffect> {
    const { id, container, attempt } = step;
    const effect = await this.#attempt(pod, container, attempt, 'RunContainerError', () =>
      this.#host.driver.start(id),
    );
    if (container === SANDBOX) return effect;
    const failure = this.#memory.progress.failures[container];
    this.#reporter.event(
      pod,
      failure
        ? { type: 'Warning', reason: 'Failed', message: `Error: ${failure.message}`, container }
        : { type: 'Normal', reason: 'Started', message: `Started container ${container}`, container },
    );
    return effect;
  }

  /** Runs one request to the engine; a refusal becomes the container's failure, success clears it. */
  async #attempt(
    pod: Pod,
    name: string,
    attempt: number,
    fallbackReason: string,
    request: () => Promise<unknown>,
  ): Promise<StepEffect> {
    try {
      await request();
      delete this.#memory.progress.failures[name];
    } catch (error) {
      if (isEngineDown(error)) throw error;
      // This attempt exists: what the next look shows is the truth.
      if (error instanceof RuntimeError && error.reason === 'Conflict') return 'engine';
      const { reason, message } = refusalOf(error, fallbackReason);
      const failedAt = this.#host.clock.now();
      this.#memory.progress.failures[name] = {
        reason,
        message,
        failedAt,
        retryAt: failedAt + RETRY_MS,
        attempt,
      };
      if (name === SANDBOX) {
        const text = `Failed to create pod sandbox: ${message}`;
        this.#reporter.event(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message: text });
      }
      this.#host.log.debug({ uid: pod.metadata.uid, container: name, reason, err: error }, 'step refused');
    }
    return 'engine';
  }

  async #remove({ ids }: Steps['remove-containers'], { containers }: StepTarget): Promise<StepEffect> {
    await Promise.all(ids.map((id) => this.#host.driver.remove(id)));
    for (const { id, identity } of containers) {
      if (ids.includes(id)) this.#host.files.removeMessage(identity);
    }
    return 'engine';
  }
}

function refusalOf(error: unknown, fallback: string): { reason: string; message: string } {
  if (error instanceof VolumeError) return { reason: CONFIG_ERROR, message: error.message };
  if (!(error instanceof RuntimeError)) throw error;
  const reason = error.reason === 'NotFound' ? fallback : error.reason;
  return { reason, message: error.message };
}

function containerOf(pod: Pod, name: string): Container {
  const container = findContainer(pod, name);
  if (!container) throw new Error(`Pod ${pod.metadata.name} has no container ${name}`);
  return container;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A coordinator on this very host is found by the host's address from a network of the Pod's own. */
function reachableApi(server: URL, { spec }: Pod, hostIP: string): { host: string; port: string } {
  const isOutOfReach = LOOPBACK.has(server.hostname) && !spec.hostNetwork && hostIP !== '';
  const host = isOutOfReach ? hostIP : server.hostname.replace(/^\[|\]$/g, '');
  return { host, port: server.port || '443' };
}
