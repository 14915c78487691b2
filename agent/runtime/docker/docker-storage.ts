/** Disk usage of containers: the writable layer and the log. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ContainerStorage, RuntimeError, SANDBOX } from '../runtime-driver.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { toIdentity } from './docker-convert.js';

const INSPECT_ERRORS: ErrorReasons = { 404: 'NotFound', fallback: 'EngineDown' };

/** Response of `GET /containers/json?size=1`, as far as the agent reads it. */
interface ListedContainer {
  Id: string;
  Labels: Record<string, string>;
  State: string;
  SizeRw?: number;
}

/** Measures all containers with these labels except sandboxes. Expensive: the engine walks their writable layers. */
export async function dockerStorage(api: DockerApi, label: string[]): Promise<ContainerStorage[]> {
  const query = { all: '1', size: '1', filters: JSON.stringify({ label }) };
  const found = await api.json<ListedContainer[]>(
    { method: 'GET', path: '/containers/json', query },
    INSPECT_ERRORS,
  );
  const storages = found.map(async ({ Id, Labels, State, SizeRw = 0 }): Promise<ContainerStorage> => {
    const { podUid, container, attempt } = toIdentity(Labels);
    const isRunning = State === 'running';
    return { podUid, container, attempt, isRunning, layerBytes: SizeRw, logBytes: await logBytes(api, Id) };
  });
  return (await Promise.all(storages)).filter(({ container }) => container !== SANDBOX);
}

/** Returns the size of the log with its rotated files. 0 without a log or without permission. */
async function logBytes(api: DockerApi, id: string): Promise<number> {
  const path = await logPath(api, id);
  if (!path) return 0;
  try {
    const names = await readdir(dirname(path));
    const logs = names.filter((name) => name.startsWith(basename(path)));
    const sizes = await Promise.all(logs.map(async (name) => (await stat(join(dirname(path), name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file was rotated away, is on another host, or is not readable for the agent.
    if (code === 'ENOENT' || code === 'EACCES') return 0;
    throw error;
  }
}

async function logPath(api: DockerApi, id: string): Promise<string | undefined> {
  try {
    const { LogPath } = await api.json<{ LogPath?: string }>(
      { method: 'GET', path: `/containers/${id}/json` },
      INSPECT_ERRORS,
    );
    return LogPath;
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}
