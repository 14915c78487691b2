/** Evicts Pods that exceed their own limits for ephemeral storage and emptyDir volumes. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import {
  isStorageLimited,
  type PodStorage,
  storageEviction,
} from '../../decisions/eviction/storage-eviction.js';
import { isStopping } from '../../decisions/pods/assigned-pod.js';
import { EVICTED } from '../../decisions/pods/pod-view.js';
import type { ContainerStorage, RuntimeDriver } from '../../runtime/runtime-driver.js';
import type { HostVolumes } from '../../volumes/host-volumes.js';
import type { PodSource } from '../pod-worker-deps.js';
import type { PodWorkers } from '../pod-workers.js';

/** Same interval as the kubelet's eviction manager. */
const PERIOD_MS = 10_000;
/** Largest share of the time spent on measuring, which walks through files. */
const SHARE_OF_TIME = 0.01;
/** Same as the kubelet's immediate evictions. */
const GRACE_SECONDS = 1;

interface StorageWatchOptions {
  pods: Pick<PodSource, 'all'>;
  workers: Pick<PodWorkers, 'terminate'>;
  driver: Pick<RuntimeDriver, 'storage'>;
  volumes: Pick<HostVolumes, 'storageOf'>;
  clock: Clock;
  log: Logger;
}

export class StorageLimitWatch {
  readonly #options: StorageWatchOptions;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(PERIOD_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Checks every Pod with a storage limit once. */
  async check(): Promise<void> {
    const { pods, log } = this.#options;
    const limited = [...pods.all()].filter(
      (assigned) => !isStopping(assigned) && !assigned.terminal && isStorageLimited(assigned.pod),
    );
    for (const { uid, pod } of limited) {
      try {
        await this.#check(uid, pod);
      } catch (error) {
        log.debug({ uid, err: error }, 'storage of a pod not measured; trying again');
      }
    }
  }

  /** Pods without running containers are skipped: they have finished or are about to start again. */
  async #check(uid: string, pod: Pod): Promise<void> {
    const { driver, volumes, workers, log } = this.#options;
    const containers = await driver.storage(uid);
    if (!containers.some(({ isRunning }) => isRunning)) return;
    const used: PodStorage = { containers: byName(containers), ...(await volumes.storageOf(pod)) };
    const message = storageEviction(pod, used);
    if (!message) return;
    log.info({ uid, name: pod.metadata.name, message }, 'evicting a pod');
    const end = { reason: EVICTED, message, graceSeconds: GRACE_SECONDS };
    workers.terminate(uid, end, { type: 'Warning', reason: EVICTED, message });
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    const { clock } = this.#options;
    this.#timer = clock.after(delayMs, async () => {
      const startedAt = clock.monotonic();
      await this.check();
      this.#schedule(Math.max(PERIOD_MS, (clock.monotonic() - startedAt) / SHARE_OF_TIME));
    });
  }
}

/** Returns the newest attempt's usage by container name; older attempts are about to be removed. */
function byName(containers: readonly ContainerStorage[]): Map<string, number> {
  const newest = new Map<string, ContainerStorage>();
  for (const container of containers) {
    const known = newest.get(container.container);
    if (!known || known.attempt < container.attempt) newest.set(container.container, container);
  }
  return new Map([...newest].map(([name, { layerBytes, logBytes }]) => [name, layerBytes + logBytes]));
}
