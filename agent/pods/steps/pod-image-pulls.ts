/** Pulls the images of one Pod's containers, with the kubelet's Events. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ImageFailure } from '../../decisions/images/image-backoff.js';
import { missingSecretsText, pullSecrets } from '../../decisions/images/pull-secrets.js';
import { pulledText } from '../../decisions/images/pulled-message.js';
import type { Keyring } from '../../decisions/images/registry-credentials.js';
import type { ImageState } from '../../decisions/pods/pod-view.js';
import { RuntimeError } from '../../runtime/runtime-driver.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';
import { isEngineDown } from './engine-attempts.js';

export class PodImagePulls {
  readonly #deps: Pick<PodWorkerDeps, 'images' | 'findConfig' | 'clock'>;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  /** Called when an image is ready or its pull failed; `engine`: inspect the containers again. */
  readonly #wake: (changed: 'memory' | 'engine') => void;
  readonly #signal: AbortSignal;

  constructor(
    deps: PodWorkerDeps,
    reporter: PodReporter,
    state: PodWorkerState,
    wake: (changed: 'memory' | 'engine') => void,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
    this.#wake = wake;
    this.#signal = signal;
  }

  /** Pulls in the background: a long pull must not delay the Pod's other containers or its end. */
  startEnsure(pod: Pod, container: Container): void {
    const { images } = this.#state.progress;
    const before = ownValue(images, container.name);
    const failed = before && before.kind !== 'ready' ? before.failed : undefined;
    images[container.name] = failed ? { kind: 'fetching', failed } : { kind: 'fetching' };
    void this.#fetch(pod, container, failed).then(this.#wake);
  }

  async #fetch(
    pod: Pod,
    container: Container,
    before: ImageFailure | undefined,
  ): Promise<'memory' | 'engine'> {
    const { name, image } = container;
    const emit = (reason: string, message: string): void =>
      this.#reporter.event(pod, { type: 'Normal', reason, message, container: name });
    try {
      const request = { image, pullPolicy: container.imagePullPolicy, secrets: this.#pullSecrets(pod) };
      const ensured = await this.#deps.images.ensure(request, this.#signal, () =>
        emit('Pulling', `Pulling image "${image}"`),
      );
      const { name: engineName, user } = ensured.image;
      this.#state.progress.images[name] = { kind: 'ready', engineName, user };
      const figures = ensured.kind === 'pulled' ? { ...ensured, ...ensured.image } : undefined;
      emit('Pulled', pulledText(image, figures));
    } catch (error) {
      if (this.#signal.aborted) return 'memory';
      this.#state.progress.images[name] = this.#failureOf(error, before);
      // An inspection of an unreachable engine fails and is retried with a delay. Without it the pull would be repeated
      // at once.
      if (isEngineDown(error)) return 'engine';
    }
    return 'memory';
  }

  #pullSecrets(pod: Pod): Keyring[] {
    try {
      const { rings, missing } = pullSecrets(pod, this.#deps.findConfig);
      if (missing.length > 0) {
        const message = missingSecretsText(missing);
        this.#reporter.event(pod, { type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message });
      }
      return rings;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new RuntimeError('ErrImagePull', why, true);
    }
  }

  #failureOf(error: unknown, before: ImageFailure | undefined): ImageState {
    // An outage of the engine is no failure of the image: the pull is repeated when the engine returns.
    if (isEngineDown(error)) return before ? { kind: 'failed', failed: before } : { kind: 'unchecked' };
    if (!(error instanceof RuntimeError)) throw error;
    const { reason, message } = error;
    const failures = (before?.failures ?? 0) + 1;
    return {
      kind: 'failed',
      failed: {
        reason: reason === 'NotFound' ? 'ErrImagePull' : reason,
        message,
        failedAt: this.#deps.clock.now(),
        failures,
      },
    };
  }
}
