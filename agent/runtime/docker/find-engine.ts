/** Finds the container engine of this machine, by itself or where it was told to look. */

import { RuntimeError } from '../runtime-driver.js';
import { DockerApi } from './docker-api.js';
import { addressText, connectionProblem, type EngineAddress } from './engine-address.js';

/** What the search may look at; read from settings and environment by main.ts. */
export interface EngineSearch {
  runtime: 'auto' | 'docker' | 'podman';
  /** `unix:///path` or `tcp://host:port`; goes before all others. */
  dockerHost?: string;
  /** `XDG_RUNTIME_DIR`, where an ordinary user's engines listen. */
  runtimeDir?: string;
  homeDir?: string;
}

/** An engine that answered. */
export interface FoundEngine {
  address: EngineAddress;
  name: 'docker' | 'podman';
  version: string;
  /** The API version to speak with it. */
  apiVersion: string;
}

/** What `GET /version` tells, the part that is read. */
interface VersionAnswer {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string;
  Components?: { Name: string }[];
}

/** The oldest API that has what we need (Docker 19.03), and the newest that was tried. */
const OLDEST_API = '1.40';
const NEWEST_API = '1.47';
const ANSWER_MS = 10_000;

/** The first engine that answers and is of the wanted kind. Throws `RuntimeError` EngineDown, in words for a person. */
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

/** Asks one address which engine it is. Throws `RuntimeError` when there is none, or one that is too old. */
export async function askEngine(address: EngineAddress): Promise<FoundEngine> {
  const api = new DockerApi(address);
  try {
    const answer = await api.json<VersionAnswer>(
      { method: 'GET', path: '/version', timeoutMs: ANSWER_MS },
      { fallback: 'EngineDown' },
    );
    const podman = answer.Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false;
    return {
      address,
      name: podman ? 'podman' : 'docker',
      version: answer.Version,
      apiVersion: negotiateApiVersion(answer.ApiVersion, answer.MinAPIVersion ?? OLDEST_API),
    };
  } finally {
    api.close();
  }
}

/** The version to speak: the engine's, at most the newest we know unless the engine asks for more. */
export function negotiateApiVersion(engines: string, enginesOldest: string): string {
  if (compare(engines, OLDEST_API) < 0) {
    throw new RuntimeError('EngineDown', `speaks API ${engines}; ${OLDEST_API} or later is needed`, false);
  }
  const newest = compare(enginesOldest, NEWEST_API) > 0 ? enginesOldest : NEWEST_API;
  return compare(engines, newest) < 0 ? engines : newest;
}

/** Where to look, in this order. A `dockerHost` is the only place then: it was meant. */
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

/** The failed connection below the error, where there is one: its address is named already. */
function explain(error: unknown): string {
  return connectionProblem(error instanceof RuntimeError && error.cause ? error.cause : error);
}

function notFound(runtime: EngineSearch['runtime'], failures: string[]): string {
  const wanted = runtime === 'auto' ? 'container engine' : `${runtime} engine`;
  const howTo =
    runtime === 'podman'
      ? 'apt-get install podman, then systemctl start podman.socket'
      : 'apt-get install docker.io';
  return `no ${wanted} answers (${failures.join('; ')}). On Debian: ${howTo}; or name its socket in DOCKER_HOST.`;
}
