/** The agent's data directory: made, checked, and held by one agent at a time. */
import { createHash } from 'node:crypto';
import { accessSync, constants, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { makePrivateDirectory } from '../../shared/process/files/private-file.js';
import { hasIdentity } from '../identity/identity-file.js';

/** The cache of what this host was given. */
export function cachePath(dataDir: string): string {
  return join(dataDir, 'desired.json');
}

/** The ConfigMaps and Secrets this host was given, a file each. */
export function configDirectory(dataDir: string): string {
  return join(dataDir, 'config');
}

/** Where the manifests of static Pods are, if nobody says otherwise; made, so that a first one is seen at once. */
export function makeManifestDirectory(dataDir: string): string {
  const directory = join(dataDir, 'manifests');
  makePrivateDirectory(directory);
  return directory;
}

/** What time the coordinator last said it was. */
export function coordinatorTimePath(dataDir: string): string {
  return join(dataDir, 'coordinator-time.json');
}

/** Room that the agent keeps for itself. */
export function reservePath(dataDir: string): string {
  return join(dataDir, 'reserve');
}

/** What happened while nobody could be told. */
export function journalPath(dataDir: string): string {
  return join(dataDir, 'journal.jsonl');
}

/** What Secrets on disk are sealed with. */
export function hostKeyPath(dataDir: string): string {
  return join(dataDir, 'host.key');
}

/**
 * Creates the directory, for its owner alone. False when its disk is read-only, as a kernel makes one that is broken, and a host has
 * joined there: what it was given can be read, and runs. Throws `ExitError` when the directory cannot be written to otherwise.
 */
export function prepareDataDir(dataDir: string): boolean {
  try {
    makePrivateDirectory(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS' && hasIdentity(dataDir)) return false;
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.environment,
      `The data directory ${dataDir} cannot be written to: ${why}. Choose another with --data.`,
    );
  }
}

/** A predecessor that was told to end, or whose parent was killed, may take so long to put down its work, ms. */
const PREDECESSOR_PATIENCE_MS = 3_000;
const LOCK_POLL_MS = 50;

/** Held until the process ends, however it ends. Throws `ExitError` when another agent has it and keeps it. */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const hash = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32);
  const deadline = performance.now() + PREDECESSOR_PATIENCE_MS;
  for (;;) {
    const server = await tryListen(`\0everynode-agent-${hash}`);
    if (server) return { release: () => void server.close() };
    if (performance.now() > deadline) {
      throw new ExitError(EXIT_CODES.data, `Another agent is running with the data directory ${dataDir}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

/** An abstract socket: the kernel frees its name with the process, so no stale lock is ever left. */
function tryListen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer().unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(name, () => resolve(server));
  });
}
