/** Takes a host out of its fleet: its containers, and nobody else's, leave the engine. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../shared/process/clock.js';
import { lockDataDir } from './data-dir.js';
import { type EnginePlaces, openRuntime } from './open-runtime.js';
import type { RuntimeChoice } from './settings.js';

/** How long each container is given to end by itself. */
const GRACE_SECONDS = 10;

interface StoredIdentity {
  node?: string;
  clusterUID?: string;
}

/** Stops and removes the containers labelled with this fleet's clusterUID and node; answers how many. Throws `ExitError`. */
export async function removeContainers(
  dataDir: string,
  runtime: RuntimeChoice,
  places: EnginePlaces,
): Promise<number> {
  const { node, clusterUID } = await readIdentity(dataDir);
  if (node === undefined || clusterUID === undefined) return 0;
  const lock = await lockDataDir(dataDir);
  const opened = await openRuntime(runtime, places, dataDir, systemClock);
  const driver = opened.driverFor({ clusterUID, nodeName: node });
  try {
    const containers = await driver.list();
    await Promise.all(
      containers.map(async ({ id }) => {
        await driver.stop(id, GRACE_SECONDS);
        await driver.remove(id);
      }),
    );
    return containers.length;
  } finally {
    driver.close();
    opened.close();
    lock.release();
  }
}

async function readIdentity(dataDir: string): Promise<StoredIdentity> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'identity.json'), 'utf8')) as StoredIdentity;
  } catch (error) {
    // Never joined: nothing here can be ours.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
