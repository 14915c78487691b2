/** Prepares the volumes of one Pod, keeps their files up to date and removes them. */
import { backoffMs } from '../../../shared/kube/objects/backoff.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { FileFacts } from '../../decisions/container-spec/volume-files.js';
import type { StepFailure } from '../../decisions/pods/pod-view.js';
import { VolumeError } from '../../volumes/volume-error.js';
import type { PodReporter } from '../pod-reporter.js';
import type { PodWorkerDeps } from '../pod-worker-deps.js';
import type { PodWorkerState } from '../pod-worker-state.js';

const RETRY = { firstMs: 500, maxMs: 122_000 };

export class VolumeSteps {
  readonly #deps: Pick<PodWorkerDeps, 'volumes' | 'clock' | 'tokens'>;
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  #failures = 0;
  /** Incremented by each change of the volumes' content. */
  #contentVersion = 0;

  constructor(deps: PodWorkerDeps, reporter: PodReporter, state: PodWorkerState) {
    this.#deps = deps;
    this.#reporter = reporter;
    this.#state = state;
  }

  /** Refreshes the files and retries a failed preparation after the volumes' content changed. */
  onContentChanged(): void {
    const { progress } = this.#state;
    this.#contentVersion += 1;
    if (progress.volumes.kind === 'ready') progress.volumes = { kind: 'ready', refreshAt: 0 };
    if (progress.volumes.kind === 'failed') progress.volumes = { kind: 'unprepared' };
  }

  async prepare(pod: Pod, facts: FileFacts): Promise<void> {
    const failure = await this.#try(pod, () => this.#deps.volumes.prepare(pod, facts));
    if (failure) this.#state.progress.volumes = { kind: 'failed', failure };
  }

  /** On failure the old files remain and the containers keep running. */
  async refresh(pod: Pod, facts: FileFacts): Promise<void> {
    const failure = await this.#try(pod, () => this.#deps.volumes.refresh(pod, facts));
    if (failure) this.#state.progress.volumes = { kind: 'ready', refreshAt: failure.retryAt };
  }

  /** Removes the volumes and everything else stored for the Pod. */
  async remove(podUid: string): Promise<void> {
    this.#state.close();
    this.#deps.tokens?.forget(podUid);
    await this.#deps.volumes.remove(podUid);
    this.#state.progress.volumes = { kind: 'removed' };
  }

  /** If the content changed during the call, the files are refreshed once more. */
  async #try(pod: Pod, run: () => Promise<void>): Promise<StepFailure | undefined> {
    const version = this.#contentVersion;
    const isOutdated = () => version !== this.#contentVersion;
    try {
      const renewAt = await this.#tokens(pod);
      await run();
      const refreshAt = isOutdated() ? 0 : renewAt;
      this.#state.progress.volumes = { kind: 'ready', ...(refreshAt !== undefined && { refreshAt }) };
      this.#failures = 0;
      return undefined;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      const delay = isOutdated() ? 0 : backoffMs(this.#failures, RETRY);
      this.#failures += 1;
      const { message } = error;
      this.#reporter.event(pod, { type: 'Warning', reason: 'FailedMount', message });
      const failedAt = this.#deps.clock.now();
      return { reason: 'FailedMount', message, failedAt, retryAt: failedAt + delay, attempt: 0 };
    }
  }

  /** Requests the Pod's tokens; returns when to check again. Throws `VolumeError` if a token is refused. */
  async #tokens(pod: Pod): Promise<number | undefined> {
    try {
      return await this.#deps.tokens?.ensure(pod);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const name = pod.spec.volumes?.find(({ projected }) =>
        projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken),
      )?.name;
      throw new VolumeError(name ?? '', `MountVolume.SetUp failed for volume "${name}" : ${why}`);
    }
  }
}
