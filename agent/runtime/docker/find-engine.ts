/** Finds the container engine of this host: at the configured address, or at the usual ones. */

import { RuntimeError } from '../runtime-driver.js';
import { DockerApi } from './docker-api.js';
import { addressText, connectionProblem, type EngineAddress } from './engine-address.js';

/** Where to search. Read from settings and environment. */
export interface EngineSearch {
  runtime: 'auto' | 'docker' | 'podman';
  /** `unix:///path` or `tcp://host:port`. Replaces all other addresses. */
  dockerHost?: string;
  /** `XDG_RUNTIME_DIR`: sockets of an ordinary user's engines are in it. */
  runtimeDir?: string;
  homeDir?: string;
}

/** An engine that responded. */
export interface FoundEngine {
  address: EngineAddress;
  name: 'docker' | 'podman';
  version: string;
  /** API version for all later calls. */
  apiVersion: string;
}

/** Response of `GET /version`, as far as the agent reads it. */
interface VersionResponse {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string;
  Components?: { Name: string }[];
}

/** The oldest API version with all calls that the agent needs (Docker 19.03), and the newest tested one. */
const OLDEST_API = '1.40';
const NEWEST_API = '1.47';
const RESPONSE_TIMEOUT_MS = 10_000;

/** Returns the first engine of the wanted kind. Throws `RuntimeError` EngineDown with advice. */
export async function findEngine(search: EngineSearch): Promise<FoundEngine> {
  const failures: string[] = [];
  for (const address of candidateAddresses(search)) {
    try {
      const found = await askEngine(address);
      if (search.runtime === 'auto' || search.runtime === found.name) return found;
      failures.push(`${addressText(address)} is ${found.name}`);
    } catch (error) {
      failures.push(`${addressText(address)}: ${explain(error)}`);
    }
  }
  throw new RuntimeError('EngineDown', notFound(search.runtime, failures), true);
}

/** Returns which engine listens at the address. Throws `RuntimeError` if none does, or if it is too old. */
export async function askEngine(address: EngineAddress): Promise<FoundEngine> {
  const api = new DockerApi(address);
  try {
    const response = await api.json<VersionResponse>(
      { method: 'GET', path: '/version', timeoutMs: RESPONSE_TIMEOUT_MS },
      { fallback: 'EngineDown' },
    );
    const podman = response.Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false;
    return {
      address,
      name: podman ? 'podman' : 'docker',
      version: response.Version,
      apiVersion: negotiateApiVersion(response.ApiVersion, response.MinAPIVersion ?? OLDEST_API),
    };
  } finally {
    api.close();
  }
}

/** Returns the engine's API version, or the newest tested one if that is lower and the engine still supports it. */
export function negotiateApiVersion(engines: string, enginesOldest: string): string {
  if (compare(engines, OLDEST_API) < 0) {
    throw new RuntimeError('EngineDown', `speaks API ${engines}; ${OLDEST_API} or later is needed`, false);
  }
  const newest = compare(enginesOldest, NEWEST_API) > 0 ? enginesOldest : NEWEST_API;
  return compare(engines, newest) < 0 ? engines : newest;
}

/** Returns addresses in the order of the search. With a `dockerHost` it is the only one: the operator chose it. */
export function candidateAddresses({
  runtime,
  dockerHost,
  runtimeDir,
  homeDir,
}: EngineSearch): EngineAddress[] {
  if (dockerHost) return [parseAddress(dockerHost)];
  const docker = [
    '/var/run/docker.sock',
    ...(runtimeDir ? [`${runtimeDir}/docker.sock`] : []),
    ...(homeDir ? [`${homeDir}/.docker/run/docker.sock`] : []),
  ];
  const podman = ['/run/podman/podman.sock', ...(runtimeDir ? [`${runtimeDir}/podman/podman.sock`] : [])];
  const paths = runtime === 'podman' ? [...podman, ...docker] : [...docker, ...podman];
  return paths.map((socketPath) => ({ socketPath }));
}

/** Throws `RuntimeError` when it is neither `unix://PATH` nor `tcp://HOST:PORT`. */
export function parseAddress(dockerHost: string): EngineAddress {
  if (dockerHost.startsWith('unix://')) return { socketPath: dockerHost.slice('unix://'.length) };
  const tcp = /^(?:tcp|http):\/\/([^/:]+|\[[^\]]+\]):(\d+)\/?$/.exec(dockerHost);
  if (tcp?.[1] && tcp[2]) return { host: tcp[1], port: Number(tcp[2]) };
  throw new RuntimeError(
    'EngineDown',
    `DOCKER_HOST ${dockerHost}: must be unix://PATH or tcp://HOST:PORT`,
    false,
  );
}

function compare(one: string, other: string): number {
  const [oneMajor = 0, oneMinor = 0] = one.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return oneMajor - otherMajor || oneMinor - otherMinor;
}

/** Prefers the underlying connection error: the caller's message names the address already. */
function explain(error: unknown): string {
  return connectionProblem(error instanceof RuntimeError && error.cause ? error.cause : error);
}

function notFound(runtime: EngineSearch['runtime'], failures: string[]): string {
  const wanted = runtime === 'auto' ? 'container engine' : `${runtime} engine`;
  const howTo =
    runtime === 'podman'
      ? 'apt-get install podman, then systemctl start podman.socket'
      : 'apt-get install docker.io';
  return `no ${wanted} found (${failures.join('; ')}). Install one, on Debian: ${howTo}; or set DOCKER_HOST to its socket.`;
}
