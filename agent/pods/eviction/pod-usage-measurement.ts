/** Measures how much of a scarce resource each Pod of this host uses. */
import type { ContainerUse, EvictionCandidate } from '../../decisions/eviction/eviction-ranking.js';
import type { StarvedResource } from '../../decisions/eviction/eviction-thresholds.js';
import type { AssignedPod } from '../../decisions/pods/assigned-pod.js';
import type { RuntimeDriver } from '../../runtime/runtime-driver.js';
import type { PodVolumes } from '../pod-worker-deps.js';

interface MeasureDeps {
  driver: Pick<RuntimeDriver, 'usage' | 'storage'>;
  volumes: Pick<PodVolumes, 'storageOf'>;
}

/** Returns the usage of every Pod in `pods` that has a running container. Throws `RuntimeError`. */
export async function measurePods(
  { driver, volumes }: MeasureDeps,
  pods: readonly AssignedPod[],
  resource: StarvedResource,
): Promise<EvictionCandidate[]> {
  const usages = await driver.usage();
  const candidates: EvictionCandidate[] = [];
  for (const { uid, pod } of pods) {
    const running = usages.filter(({ podUid }) => podUid === uid);
    if (running.length === 0) continue;
    if (resource === 'memory' || resource === 'pids') {
      const containers = running.map(
        ({ container: name, memoryBytes, processes }): ContainerUse => ({
          name,
          memoryBytes,
          ...(processes === undefined ? {} : { processes }),
        }),
      );
      candidates.push({ uid, pod, containers, volumeBytes: 0 });
      continue;
    }
    const stored = await driver.storage(uid);
    const containers = stored
      .filter(({ isRunning }) => isRunning)
      .map(({ container: name, layerBytes, logBytes }): ContainerUse => ({ name, layerBytes, logBytes }));
    const { emptyDirs, otherVolumes } = await volumes.storageOf(pod);
    const inMemory = new Set(
      (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }) => (emptyDir?.medium === 'Memory' ? [name] : [])),
    );
    const onDisk = [...emptyDirs].filter(([name]) => !inMemory.has(name));
    const volumeBytes = onDisk.reduce((sum, [, bytes]) => sum + bytes, otherVolumes);
    candidates.push({ uid, pod, containers, volumeBytes });
  }
  return candidates;
}
