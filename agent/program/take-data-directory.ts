/** Locks the data directory for this agent, also on a read-only disk. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { lockDataDir, prepareDataDir } from './agent-data-directory.js';
import { hostMayWrite, waitForWritableDisk } from './wait-for-writable-disk.js';

/** Creates the directory if it is missing and locks it for this process. */
export async function takeDataDir(dataDir: string, clock: Clock, log: Logger): Promise<Component[]> {
  const isWritable = prepareDataDir(dataDir);
  const lock = await lockDataDir(dataDir);
  const lockComponent: Component = { name: 'lock', stop: () => lock.release() };
  return isWritable ? [lockComponent] : [lockComponent, ...readOnlyComponents(dataDir, clock, log)];
}

/** Returns a component that restarts a service once the disk is writable. */
function readOnlyComponents(dataDir: string, clock: Clock, log: Logger): Component[] {
  log.error({ dataDir }, 'the disk is read-only: changes of the desired state are kept only in memory');
  // If the host may write and its service may not, the restriction is intended.
  if (!process.env.INVOCATION_ID || hostMayWrite(dataDir)) return [];
  const restart = (): void => {
    log.info({ dataDir }, 'the disk is writable again: the agent restarts, containers keep running');
    process.kill(process.pid, 'SIGTERM');
  };
  return [waitForWritableDisk(() => hostMayWrite(dataDir), restart, clock)];
}
