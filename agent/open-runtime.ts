/** The container engine of this host, found now or remembered from the last time it answered. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../shared/process/clock.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { DockerEngine } from './runtime/docker-engine.js';
import { type ContainerOwner, type RuntimeDriver, RuntimeError } from './runtime/driver.js';
import { type EngineSearch, type FoundEngine, findEngine } from './runtime/find-engine.js';
import { SteadyTimes } from './runtime/steady-times.js';
import type { RuntimeChoice } from './settings.js';

/** Where engines may be, from the environment: `DOCKER_HOST`, `XDG_RUNTIME_DIR`, `HOME`. */
export type EnginePlaces = Omit<EngineSearch, 'runtime'>;

export interface OpenedRuntime {
  /** `docker`, `podman` or `hollow`: the scheme of container ids. */
  name: string;
  driverFor(owner: ContainerOwner): RuntimeDriver;
  close(): void;
}

/**
 * A host that had an engine once goes on without it: it reports itself not ready until the engine is back.
 * Throws `ExitError` when none answers and none is remembered.
 */
export async function openRuntime(
  choice: RuntimeChoice,
  places: EnginePlaces,
  dataDir: string,
  clock: Clock,
): Promise<OpenedRuntime> {
  if (choice === 'hollow') {
    // Only hollow hosts carry its code.
    const { openFakeRuntime } = await import('./runtime/open-fake.js');
    return { name: 'hollow', ...(await openFakeRuntime(dataDir, clock)) };
  }
  const found = await findOrRemember({ runtime: choice, ...places }, join(dataDir, 'engine.json'));
  return {
    name: found.name,
    driverFor: (owner) => new SteadyTimes(new DockerEngine(found, owner), clock, systemClock),
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

async function findOrRemember(search: EngineSearch, memory: string): Promise<FoundEngine> {
  try {
    const found = await requireEngine(search);
    await writeFile(`${memory}.new`, JSON.stringify(found));
    await rename(`${memory}.new`, memory);
    return found;
  } catch (error) {
    const remembered = await readRemembered(memory);
    if (!remembered || (search.runtime !== 'auto' && search.runtime !== remembered.name)) throw error;
    return remembered;
  }
}

async function readRemembered(memory: string): Promise<FoundEngine | undefined> {
  try {
    return JSON.parse(await readFile(memory, 'utf8')) as FoundEngine;
  } catch {
    // Never written, or cut off by a power cut: the search's own answer stands.
    return undefined;
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
