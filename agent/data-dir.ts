/** The agent's data directory: made, checked, and held by one agent at a time. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';

/** The cache of what this host was given. */
export function cachePath(dataDir: string): string {
  return join(dataDir, 'desired.json');
}

/** Creates the directory, for its owner alone. Throws `ExitError` when it cannot be written to. */
export function prepareDataDir(dataDir: string): void {
  try {
    makeDirectory(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.environment,
      `The data directory ${dataDir} cannot be written to: ${why}.`,
    );
  }
}

/** By single steps: Node's recursive mkdir never returns where a file system refuses new folders, as /proc does. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Held until the process ends, however it ends. Throws `ExitError` when another agent has it. */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const hash = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32);
  const server: Server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // An abstract socket: the kernel frees its name with the process, so no stale lock is ever left.
    server.listen(`\0everynode-agent-${hash}`, resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new ExitError(EXIT_CODES.data, `Another agent is running with the data directory ${dataDir}.`);
  });
  server.unref();
  return { release: () => void server.close() };
}
