/** Creates the sandbox and the containers of one Pod. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { containerConfig, sandboxConfig } from '../../decisions/container-spec/container-config.js';
import { environmentOf } from '../../decisions/container-spec/container-environment.js';
import { hostnameRefusal } from '../../decisions/container-spec/container-namespaces.js';
import { isolationShortfalls } from '../../decisions/container-spec/container-security.js';
import { podDns } from '../../decisions/container-spec/dns-resolver.js';
import { createdContainer } from '../../decisions/containers/container-attempts.js';
import type { Steps } from '../../decisions/pods/pod-step-types.js';
import {
  type ContainerConfig,
  type Mount,
  type ObservedContainer,
  RuntimeError,
  SANDBOX,
} from '../../runtime/runtime-driver.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';
import { CONFIG_ERROR, EngineAttempts } from './engine-attempts.js';
import { fieldFacts } from './field-facts.js';
import { portInUse } from './host-port-check.js';

const DEFAULT_MESSAGE_PATH = '/dev/termination-log';

export class ContainerCreation {
  readonly #deps: PodWorkerDeps;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  readonly #attempts: EngineAttempts;

  constructor(deps: PodWorkerDeps, reporter: PodReporter, state: PodWorkerState) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
    this.#attempts = new EngineAttempts(deps, reporter, state);
  }

  /** Creates and starts the sandbox. A refusal is stored as its failure. */
  createSandbox(step: Steps['create-sandbox'], pod: Pod): Promise<void> {
    const request = {
      container: SANDBOX,
      attempt: step.attempt,
      fallbackReason: 'CreatePodSandboxError',
    };
    return this.#attempts.run(pod, request, async () => {
      const { bootMark, isolation, resolvers } = this.#deps.facts();
      const refusal = hostnameRefusal(pod);
      if (refusal) throw new RuntimeError('CreatePodSandboxError', refusal, false);
      const image = await this.#deps.driver.ensureSandboxImage();
      const config = sandboxConfig(pod, image, { ...step, bootMark, isolation, resolvers });
      await this.#assertPortsFree(config);
      this.#warnOfResolver(pod, step.attempt);
      const id = await this.#deps.driver.create(config);
      await this.#deps.driver.start(id);
    });
  }

  /** Returns the created container as an inspection would show it; undefined if it was refused or already exists. */
  async createContainer(
    step: Steps['create-container'],
    pod: Pod,
    container: Container,
    podIP: string,
  ): Promise<ObservedContainer | undefined> {
    const { name } = container;
    const warn = (message: string): void =>
      this.#reporter.event(pod, { type: 'Warning', reason: 'IsolationReduced', message, container: name });
    const request = { container: name, attempt: step.attempt, fallbackReason: 'CreateContainerError' };
    let created: ObservedContainer | undefined;
    await this.#attempts.run(pod, request, async () => {
      const config = await this.#configOf(pod, container, step, podIP);
      await this.#assertPortsFree(config);
      for (const text of isolationShortfalls(pod, container, this.#deps.facts().isolation)) warn(text);
      if (step.sandboxID === undefined) this.#warnOfResolver(pod, step.attempt);
      const id = await this.#deps.driver.create(config, warn);
      created = createdContainer(id, config, this.#deps.clock.now());
      // The next attempt checks its image again, as its pull policy requires.
      delete this.#state.progress.images[name];
      const message = `Created container: ${name}`;
      this.#reporter.event(pod, { type: 'Normal', reason: 'Created', message, container: name });
    });
    return created;
  }

  async #configOf(
    pod: Pod,
    container: Container,
    step: Steps['create-container'],
    podIP: string,
  ): Promise<ContainerConfig> {
    const { bootMark, isolation, resolvers } = this.#deps.facts();
    const facts = fieldFacts(this.#deps, pod, podIP);
    const environment = environmentOf(pod, container, facts);
    if (environment.kind === 'refused') throw new RuntimeError(CONFIG_ERROR, environment.message, false);
    const mounts = await this.#mountsOf(pod, container, step.attempt, environment.values);
    const image = ownValue(this.#state.progress.images, container.name);
    const { user: imageUser = '', engineName } = image?.kind === 'ready' ? image : {};
    const engineImage = engineName ? { engineImage: engineName } : {};
    const deps = { bootMark, isolation, resolvers };
    const context = { ...step, ...facts, ...deps, mounts, imageUser, ...engineImage };
    const result = containerConfig(pod, container, context);
    if (result.kind === 'config') return result.config;
    throw new RuntimeError(CONFIG_ERROR, result.message, false);
  }

  /** The container that is created now sets the resolver of its Pod. */
  #warnOfResolver(pod: Pod, attempt: number): void {
    if (attempt > 0) return;
    for (const { reason, message } of podDns(pod, this.#deps.facts().resolvers).warnings)
      this.#reporter.event(pod, { type: 'Warning', reason, message });
  }

  /** Only for first attempts: the engine may not yet have released the ports of an earlier attempt. */
  async #assertPortsFree({ ports, identity }: ContainerConfig): Promise<void> {
    if (identity.attempt > 0 || this.#deps.facts().engine === 'hollow') return;
    const trouble = await portInUse(ports);
    if (trouble) throw new RuntimeError('CreateContainerError', trouble, true);
  }

  /** Returns the mounts of the container's volumes and of its termination message. */
  async #mountsOf(
    pod: Pod,
    container: Container,
    attempt: number,
    environment: ReadonlyMap<string, string>,
  ): Promise<Mount[]> {
    const mounts = await this.#deps.volumes.mountsOf(pod, container, environment);
    const { uid = '', namespace = '', name } = pod.metadata;
    const identity = {
      podUid: uid,
      podNamespace: namespace,
      podName: name,
      container: container.name,
      attempt,
    };
    const hostPath = this.#deps.files.createMessageFile(identity);
    if (hostPath === undefined) return mounts;
    const containerPath = container.terminationMessagePath || DEFAULT_MESSAGE_PATH;
    return [...mounts, { hostPath, containerPath, readOnly: false, propagation: 'private' }];
  }
}
