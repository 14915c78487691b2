/** What an engine says of itself. */

import type { EngineInfo } from '../runtime-driver.js';
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
