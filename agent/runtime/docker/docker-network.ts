/** The network that containers get which share nobody's. */

import { type EngineInfo, RuntimeError } from '../runtime-driver.js';
import type { DockerApi } from './docker-api.js';

const DEVICE_OPTION = 'com.docker.network.bridge.name';

interface NetworkAnswer {
  Options?: Record<string, string> | null;
}

/**
 * Asks anew; undefined when the engine does not tell. Podman makes its device with the first container and may have another
 * default network, so there a missing one says nothing; a rootless engine's device lies in a namespace of its own.
 */
export async function readPodNetwork(
  api: DockerApi,
  name: string,
  isRootless: boolean,
): Promise<EngineInfo['podNetwork']> {
  const isDocker = name === 'docker';
  try {
    const path = `/networks/${isDocker ? 'bridge' : 'podman'}`;
    const { Options } = await api.json<NetworkAnswer>(
      { method: 'GET', path },
      { 404: 'NotFound', fallback: 'EngineDown' },
    );
    const device = isDocker && !isRootless ? Options?.[DEVICE_OPTION] : undefined;
    return { exists: true, ...(device ? { device } : {}) };
  } catch (error) {
    const isMissing = error instanceof RuntimeError && error.reason === 'NotFound';
    return isMissing && isDocker ? { exists: false } : undefined;
  }
}
