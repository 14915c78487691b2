/** Opens the container engine of this host, which is found now or remembered from an earlier start. */

import { readFile, rename, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { sentence } from '../../shared/process/output/sentence.js';
import { type Clock, systemClock } from '../../shared/process/time/clock.js';
import { withPodLogFiles } from '../pod-logs/pod-log-driver.js';
import type { PodLogFiles } from '../pod-logs/pod-log-files.js';
import type { RuntimeChoice } from '../program/agent-settings.js';
import { BridgePin } from '../runtime/bridge-pin.js';
import { DockerEngine } from '../runtime/docker/docker-engine.js';
import { askEngine, type EngineSearch, type FoundEngine, findEngine } from '../runtime/docker/find-engine.js';
import { type EngineNetwork, engineNetwork } from '../runtime/engine-network-namespace.js';
import { engineProcesses } from '../runtime/engine-processes.js';
import { withMonotonicTimes } from '../runtime/monotonic-times-driver.js';
import { withPinnedBridge } from '../runtime/pinned-bridge-driver.js';
import { type ContainerOwner, type RuntimeDriver, RuntimeError } from '../runtime/runtime-driver.js';
import type { FindProcesses } from '../volumes/engine-mount-namespace.js';
import { NO_ENGINE } from '../volumes/sub-path-preparation.js';

/** Possible locations of engines, from the environment: `DOCKER_HOST`, `XDG_RUNTIME_DIR`, `HOME`. */
export type EngineLocations = Omit<EngineSearch, 'runtime'>;

export interface OpenedRuntime {
  /** `docker`, `podman` or `hollow`: the scheme of container ids. */
  name: string;
  /** `hasLogFiles`: new containers get a log driver that writes files. */
  driverFor(owner: ContainerOwner, options?: { hasLogFiles: boolean }): RuntimeDriver;
  /** Finds processes in the mount namespace in which containers are started. */
  processes: FindProcesses | typeof NO_ENGINE;
  /** Whether Pods can reach addresses of this process's network namespace. */
  network(): Promise<EngineNetwork>;
  close(): void;
}

/** The engine with the host's containers. It is remembered, so that a second engine does not replace it. */
type Remembered = FoundEngine | { name: 'hollow' };

/**
 * Opens the chosen engine. `auto` prefers the remembered one, unless `DOCKER_HOST` names another. If a remembered
 * engine is down, the agent starts nevertheless and reports the Node as not ready. Throws `ExitError` if no engine
 * answers and none is remembered.
 */
export async function openRuntime(
  choice: RuntimeChoice,
  places: EngineLocations,
  dataDir: string,
  clock: Clock,
): Promise<OpenedRuntime> {
  const memory = memoryPath(dataDir);
  const remembered = await readRemembered(memory);
  const engine =
    choice === 'hollow' ? { name: choice } : await chooseEngine({ runtime: choice, ...places }, remembered);
  await remember(memory, engine, remembered);
  return openEngine(engine, dataDir, clock);
}

/** If the disk takes no writes, the engine is searched again at the next start. */
async function remember(path: string, engine: Remembered, before: Remembered | undefined): Promise<void> {
  const text = JSON.stringify(engine);
  if (text === JSON.stringify(before)) return;
  try {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** Opens the remembered engine of this data directory; resolves with undefined without one. */
export async function reopenRuntime(dataDir: string, clock: Clock): Promise<OpenedRuntime | undefined> {
  const remembered = await readRemembered(memoryPath(dataDir));
  return remembered && openEngine(remembered, dataDir, clock);
}

/**
 * Opens the driver of an agent that runs Pods, with their log files. Docker keeps the address of its bridge itself.
 */
export function openDriver(
  { name, driverFor, network }: Pick<OpenedRuntime, 'name' | 'driverFor' | 'network'>,
  owner: ContainerOwner,
  log: Logger,
  podLogs?: PodLogFiles,
): RuntimeDriver {
  const driver = driverFor(owner, { hasLogFiles: podLogs !== undefined });
  const logged = podLogs ? withPodLogFiles(driver, podLogs) : driver;
  return name === 'podman' ? withPinnedBridge(logged, new BridgePin({ network, log })) : logged;
}

async function openEngine(engine: Remembered, dataDir: string, clock: Clock): Promise<OpenedRuntime> {
  const { name } = engine;
  if (name === 'hollow') {
    // Loaded on demand: only hollow hosts need this code.
    const { openHollowRuntime } = await import('../runtime/hollow/open-hollow-runtime.js');
    const network = () => Promise.resolve('unknown' as const);
    return { name, processes: NO_ENGINE, network, ...(await openHollowRuntime(dataDir, clock)) };
  }
  return {
    name,
    driverFor: (owner, options) =>
      withMonotonicTimes(new DockerEngine(engine, owner, options), clock, systemClock, () => uptime() * 1000),
    processes: () => engineProcesses(engine.address),
    network: () => engineNetwork(engine.address),
    close: () => undefined,
  };
}

/** Throws `ExitError` if no engine answers. */
export async function requireEngine(search: EngineSearch): Promise<FoundEngine> {
  try {
    return await findEngine(search);
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    throw new ExitError(EXIT_CODES.environment, sentence(error.message));
  }
}

async function chooseEngine(search: EngineSearch, remembered: Remembered | undefined): Promise<FoundEngine> {
  const known = remembered && remembered.name !== 'hollow' ? remembered : undefined;
  // Query the remembered engine again, because it may have been upgraded.
  if (known && search.runtime === 'auto' && !search.dockerHost) {
    return askEngine(known.address).catch(() => known);
  }
  try {
    return await requireEngine(search);
  } catch (error) {
    if (!known || (search.runtime !== 'auto' && search.runtime !== known.name)) throw error;
    return known;
  }
}

function memoryPath(dataDir: string): string {
  return join(dataDir, 'engine.json');
}

async function readRemembered(memory: string): Promise<Remembered | undefined> {
  try {
    return JSON.parse(await readFile(memory, 'utf8')) as Remembered;
  } catch {
    // The file is missing or was truncated by a power cut: search for engines.
    return undefined;
  }
}
