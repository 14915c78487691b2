/** Removes a host from its fleet: stops and removes the fleet's containers with their volumes and mounts. */

import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { reopenRuntime } from '../assembly/open-runtime.js';
import { readIdentity } from '../identity/identity-file.js';
import { removePodLogs } from '../pod-logs/remove-pod-logs.js';
import { type RuntimeDriver, RuntimeError } from '../runtime/runtime-driver.js';
import { removeAllVolumes } from '../volumes/remove-volumes.js';
import { VolumeError } from '../volumes/volume-error.js';
import { lockDataDir } from './agent-data-directory.js';

/** Grace period of each container. */
const GRACE_SECONDS = 10;

/**
 * Stops and removes the containers labelled with this fleet's clusterUID and node. Resolves with their number. Throws
 * `ExitError` if the engine fails, because the identity of remaining containers must be kept.
 */
export async function removeContainers(dataDir: string): Promise<number> {
  const identity = await readIdentity(dataDir);
  const runtime = await reopenRuntime(dataDir, systemClock);
  // The host never joined or never had an engine, so it has no containers.
  if (identity?.clusterUID === undefined || !runtime) return 0;
  const lock = await lockDataDir(dataDir);
  const driver = runtime.driverFor({ clusterUID: identity.clusterUID, nodeName: identity.node });
  try {
    const removed = await removeAll(driver);
    await removeAllVolumes(dataDir, runtime.processes);
    await removePodLogs(dataDir);
    await removeSandboxImage(driver);
    return removed;
  } catch (error) {
    if (error instanceof VolumeError) throw new ExitError(EXIT_CODES.environment, `${error.message}.`);
    if (!(error instanceof RuntimeError)) throw error;
    throw new ExitError(
      EXIT_CODES.environment,
      `This host's containers cannot be removed: ${error.message}.`,
    );
  } finally {
    driver.close();
    runtime.close();
    lock.release();
  }
}

/** Resolves with the number of Pods that have containers. Throws `ExitError` if the engine does not answer. */
export async function countPods(dataDir: string): Promise<number> {
  const identity = await readIdentity(dataDir);
  const runtime = await reopenRuntime(dataDir, systemClock);
  if (identity?.clusterUID === undefined || !runtime) return 0;
  const driver = runtime.driverFor({ clusterUID: identity.clusterUID, nodeName: identity.node });
  try {
    const containers = await driver.list();
    return new Set(containers.map(({ identity: { podUid } }) => podUid)).size;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    throw new ExitError(
      EXIT_CODES.environment,
      `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`,
    );
  } finally {
    driver.close();
    runtime.close();
  }
}

async function removeAll(driver: RuntimeDriver): Promise<number> {
  const containers = await driver.list();
  await Promise.all(
    containers.map(async ({ id }) => {
      await driver.stop(id, GRACE_SECONDS);
      await driver.remove(id);
    }),
  );
  return containers.length;
}

/** The image was created here, only for this host's Pods. */
async function removeSandboxImage(driver: RuntimeDriver): Promise<void> {
  const name = await driver.ensureSandboxImage();
  await driver.removeImage(name).catch((error: unknown) => {
    // Containers of another fleet's agent on this engine use it.
    if (!(error instanceof RuntimeError)) throw error;
  });
}
