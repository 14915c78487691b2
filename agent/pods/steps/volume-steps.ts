/** Makes the volumes of one Pod ready, keeps their files up to date and takes them away. */
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
  readonly #host: Pick<PodWorkerDeps, 'volumes' | 'clock' | 'tokens'>;
  readonly #reporter: PodReporter;
  readonly #memory: PodWorkerState;
  #failures = 0;
  /** Raised by each change of what the volumes show. */
  #contentVersion = 0;

  constructor(host: PodWorkerDeps, reporter: PodReporter, memory: PodWorkerState) {
    this.#host = host;
    this.#reporter = reporter;
    this.#memory = memory;
  }

  /** What the volumes show is another now: what is there is looked at, and what was refused is tried again. */
  onContentChanged(): void {
    const { progress } = this.#memory;
    this.#contentVersion += 1;
    if (progress.volumes.kind === 'ready') progress.volumes = { kind: 'ready', refreshAt: 0 };
    if (progress.volumes.kind === 'failed') progress.volumes = { kind: 'unprepared' };
  }

  async prepare(pod: Pod, facts: FileFacts): Promise<void> {
    const failure = await this.#try(pod, () => this.#host.volumes.prepare(pod, facts));
    if (failure) this.#memory.progress.volumes = { kind: 'failed', failure };
  }

  /** What could not be brought up to date stays as it was, and the containers run on. */
  async refresh(pod: Pod, facts: FileFacts): Promise<void> {
    const failure = await this.#try(pod, () => this.#host.volumes.refresh(pod, facts));
    if (failure) this.#memory.progress.volumes = { kind: 'ready', refreshAt: failure.retryAt };
  }

  /** With everything else that is kept of the Pod. */
  async remove(podUid: string): Promise<void> {
    this.#memory.close();
    this.#host.tokens?.forget(podUid);
    await this.#host.volumes.remove(podUid);
    this.#memory.progress.volumes = { kind: 'removed' };
  }

  /** A change that came meanwhile is not lost: the files are looked at once more. */
  async #try(pod: Pod, run: () => Promise<void>): Promise<StepFailure | undefined> {
    const version = this.#contentVersion;
    const isOutdated = () => version !== this.#contentVersion;
    try {
      const renewAt = await this.#tokens(pod);
      await run();
      const refreshAt = isOutdated() ? 0 : renewAt;
      this.#memory.progress.volumes = { kind: 'ready', ...(refreshAt !== undefined && { refreshAt }) };
      this.#failures = 0;
      return undefined;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      const delay = isOutdated() ? 0 : backoffMs(this.#failures, RETRY);
      this.#failures += 1;
      const { message } = error;
      this.#reporter.event(pod, { type: 'Warning', reason: 'FailedMount', message });
      const failedAt = this.#host.clock.now();
      return { reason: 'FailedMount', message, failedAt, retryAt: failedAt + delay, attempt: 0 };
    }
  }

  /** Has the Pod's tokens; answers when to look again. Throws `VolumeError` when one is refused. */
  async #tokens(pod: Pod): Promise<number | undefined> {
    try {
      return await this.#host.tokens?.ensure(pod);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const name = pod.spec.volumes?.find(({ projected }) =>
        projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken),
      )?.name;
      throw new VolumeError(name ?? '', `MountVolume.SetUp failed for volume "${name}" : ${why}`);
    }
  }
}
