/** The agent's data directory: created, checked, and locked by one agent at a time. */
import { createHash } from 'node:crypto';
import { accessSync, constants, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { makePrivateDirectory } from '../../shared/process/files/private-file.js';
import { hasIdentity } from '../identity/identity-file.js';

/** Cache of the assigned Pods. */
export function cachePath(dataDir: string): string {
  return join(dataDir, 'desired.json');
}

/** ConfigMaps and Secrets of this host, one file each. */
export function configDirectory(dataDir: string): string {
  return join(dataDir, 'config');
}

/** Views of Services, and endpoints of the host's own Pods. */
export function serviceTablePath(dataDir: string): string {
  return join(dataDir, 'services.json');
}

/** Creates the default directory of static Pod manifests, so that the first manifest is noticed at once. */
export function makeManifestDirectory(dataDir: string): string {
  const directory = join(dataDir, 'manifests');
  makePrivateDirectory(directory);
  return directory;
}

/** The last received time of the coordinator. */
export function coordinatorTimePath(dataDir: string): string {
  return join(dataDir, 'coordinator-time.json');
}

/** What the host did for Pods of DaemonJobs. */
export function jobRunsPath(dataDir: string): string {
  return join(dataDir, 'job-runs.json');
}

/** Disk space reserved for the agent. */
export function reservePath(dataDir: string): string {
  return join(dataDir, 'reserve');
}

/** Events that wait for the link. */
export function journalPath(dataDir: string): string {
  return join(dataDir, 'journal.jsonl');
}

/** Encryption key of stored Secrets. */
export function hostKeyPath(dataDir: string): string {
  return join(dataDir, 'host.key');
}

/**
 * Creates the directory for its owner only. Returns false if the disk is read-only and a host has joined there: its
 * stored Pods can still run. Throws `ExitError` for other reasons why the directory cannot be written.
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

/** Time for a predecessor to finish its work after a stop request, ms. */
const PREDECESSOR_TIMEOUT_MS = 3_000;
const LOCK_POLL_MS = 50;

/** Locks the directory until the process ends. Throws `ExitError` if another agent keeps the lock. */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const hash = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32);
  const deadline = performance.now() + PREDECESSOR_TIMEOUT_MS;
  for (;;) {
    const server = await tryListen(`\0everynode-agent-${hash}`);
    if (server) return { release: () => void server.close() };
    if (performance.now() > deadline) {
      throw new ExitError(EXIT_CODES.data, `Another agent is running with the data directory ${dataDir}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

/** Uses an abstract socket: the kernel frees its name with the process, so a stale lock cannot remain. */
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
