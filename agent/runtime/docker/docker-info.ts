/** Reads the engine's version, security options, log driver and bridge network. */

import { type EngineInfo, RuntimeError } from '../runtime-driver.js';
import type { DockerApi } from './docker-api.js';
import type { FoundEngine } from './find-engine.js';

/** Response of `GET /info`, as far as the agent reads it. */
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

/** Throws `RuntimeError` EngineDown. */
export function readInfo(api: DockerApi): Promise<InfoResponse> {
  return api.json<InfoResponse>({ method: 'GET', path: '/info' }, { fallback: 'EngineDown' });
}

export function toEngineInfo({ name, version, apiVersion }: FoundEngine, info: InfoResponse): EngineInfo {
  return {
    name,
    version,
    apiVersion,
    // Podman reports another ID in each response. The path of its data identifies it.
    id: name === 'podman' ? `podman:${info.DockerRootDir ?? ''}` : info.ID,
    appArmor: hasSecurityOption(info, 'apparmor'),
    seccomp: hasSecurityOption(info, 'seccomp'),
    rootless: hasSecurityOption(info, 'rootless'),
    ...(info.DockerRootDir ? { rootDir: info.DockerRootDir } : {}),
    ...(info.OperatingSystem ? { osImage: info.OperatingSystem } : {}),
    ...(info.KernelVersion ? { kernelVersion: info.KernelVersion } : {}),
  };
}

/** Returns the name of the default log driver. Podman reports it in a call of its own. */
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

interface NetworkResponse {
  Options?: Record<string, string> | null;
}

/**
 * Returns undefined when the engine does not report its bridge network. Podman creates the device with the first
 * container, and its default network may have another name: there a missing network means nothing. A rootless engine's
 * device is in another namespace.
 */
export async function readPodNetwork(
  api: DockerApi,
  name: string,
  isRootless: boolean,
): Promise<EngineInfo['podNetwork']> {
  const isDocker = name === 'docker';
  try {
    const path = `/networks/${isDocker ? 'bridge' : 'podman'}`;
    const { Options } = await api.json<NetworkResponse>(
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
