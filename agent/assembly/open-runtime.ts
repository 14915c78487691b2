/** The container engine of this host, found now or remembered from the last time it answered. */

import { readFile, rename, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { type Clock, systemClock } from '../../shared/process/time/clock.js';
import type { RuntimeChoice } from '../program/agent-settings.js';
import { DockerEngine } from '../runtime/docker/docker-engine.js';
import { askEngine, type EngineSearch, type FoundEngine, findEngine } from '../runtime/docker/find-engine.js';
import { engineProcesses } from '../runtime/engine-processes.js';
import { withMonotonicTimes } from '../runtime/monotonic-times-driver.js';
import { type ContainerOwner, type RuntimeDriver, RuntimeError } from '../runtime/runtime-driver.js';
import type { FindProcesses } from '../volumes/engine-mount-namespace.js';
import { NO_ENGINE } from '../volumes/sub-path-preparation.js';

/** Where engines may be, from the environment: `DOCKER_HOST`, `XDG_RUNTIME_DIR`, `HOME`. */
export type EngineLocations = Omit<EngineSearch, 'runtime'>;

interface OpenedRuntime {
  /** `docker`, `podman` or `hollow`: the scheme of container ids. */
  name: string;
  driverFor(owner: ContainerOwner): RuntimeDriver;
  /** Finds the processes among whose mounts containers are started. */
  processes: FindProcesses | typeof NO_ENGINE;
  close(): void;
}

/** The engine that a host's containers are in: it outlives the agent, and a second engine must not take its place. */
type Remembered = FoundEngine | { name: 'hollow' };

/**
 * The engine of the choice. `auto` stays with the one this host had before, unless `DOCKER_HOST` names another.
 * A host that had an engine once goes on without it: it reports itself not ready until the engine is back.
 * Throws `ExitError` when none answers and none is remembered.
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

/** A disk that takes no more keeps nobody from running: it is chosen anew at the next start. */
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

/** The engine that an agent with this data had, whatever else there is; undefined when it never had one. */
export async function reopenRuntime(dataDir: string, clock: Clock): Promise<OpenedRuntime | undefined> {
  const remembered = await readRemembered(memoryPath(dataDir));
  return remembered && openEngine(remembered, dataDir, clock);
}

async function openEngine(engine: Remembered, dataDir: string, clock: Clock): Promise<OpenedRuntime> {
  const { name } = engine;
  if (name === 'hollow') {
    // Only hollow hosts carry its code.
    const { openHollowRuntime } = await import('../runtime/hollow/open-hollow-runtime.js');
    return { name, processes: NO_ENGINE, ...(await openHollowRuntime(dataDir, clock)) };
  }
  return {
    name,
    driverFor: (owner) =>
      withMonotonicTimes(new DockerEngine(engine, owner), clock, systemClock, () => uptime() * 1000),
    processes: () => engineProcesses(engine.address),
    close: () => undefined,
  };
}

/** Throws `ExitError` when no engine answers. */
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
  // As long as nobody says otherwise; asked again, because it may have been upgraded.
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
    // Never written, or cut off by a power cut: the search's own answer stands.
    return undefined;
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
