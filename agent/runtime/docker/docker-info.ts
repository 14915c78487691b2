/** What an engine says of itself. */

import { type EngineInfo, RuntimeError } from '../runtime-driver.js';
import type { DockerApi } from './docker-api.js';
import type { FoundEngine } from './find-engine.js';

/** What `GET /info` answers, the part that is read. */
export interface InfoResponse {
  ID: string;
  Architecture: string;
  OperatingSystem?: string;
  KernelVersion?: string;
  LoggingDriver?: string;
  DockerRootDir?: string;
  /** Such as `name=seccomp,profile=default`. */
  SecurityOptions?: string[] | null;
}

/** Asks anew. Throws `EngineDown`. */
export function readInfo(api: DockerApi): Promise<InfoResponse> {
  return api.json<InfoResponse>({ method: 'GET', path: '/info' }, { fallback: 'EngineDown' });
}

/** The driver's form of it. */
export function toEngineInfo({ name, version, apiVersion }: FoundEngine, info: InfoResponse): EngineInfo {
  return {
    name,
    version,
    apiVersion,
    // Podman makes up another ID at every call; where its data lie is what tells it apart.
    id: name === 'podman' ? `podman:${info.DockerRootDir ?? ''}` : info.ID,
    appArmor: hasSecurityOption(info, 'apparmor'),
    seccomp: hasSecurityOption(info, 'seccomp'),
    rootless: hasSecurityOption(info, 'rootless'),
    ...(info.DockerRootDir ? { rootDir: info.DockerRootDir } : {}),
    ...(info.OperatingSystem ? { osImage: info.OperatingSystem } : {}),
    ...(info.KernelVersion ? { kernelVersion: info.KernelVersion } : {}),
  };
}

/** Name of the log driver that containers get by default. Podman tells it in an answer of its own. */
export async function readLogDriver(
  api: DockerApi,
  { name }: FoundEngine,
  info: InfoResponse,
): Promise<string> {
  if (name === 'docker') return info.LoggingDriver ?? '';
  const { host } = await api.json<{ host?: { logDriver?: string } }>(
    { method: 'GET', path: '/libpod/info' },
    { fallback: 'EngineDown' },
  );
  return host?.logDriver ?? '';
}

function hasSecurityOption({ SecurityOptions }: InfoResponse, name: string): boolean {
  return (SecurityOptions ?? []).some((option) => option.split(',')[0] === `name=${name}`);
}

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
