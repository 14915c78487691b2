/** `everynode down`: removes everything that `up` created on this machine, and nothing else. */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { confirmAtTerminal } from '../../../shared/process/output/terminal-output.js';
import { agentDataDir, pidPath } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { acquireDataLock, DATABASE_FILE, type DataLock } from '../../store/data-files.js';
import { StoreError } from '../../store/store-error.js';
import { CLUSTER_FILE } from '../local-cluster/cluster-layout.js';
import { runAgentCommand } from '../machine/agent-process.js';
import { type Progress, terminalProgress } from '../terminal/terminal-progress.js';

/** Timeout for a running `up` to stop. Its agent leaves the containers running, so it stops fast. */
const STOP_TIMEOUT_MS = 20_000;
const STOP_POLL_MS = 100;

export function downCommand(program: Command): void {
  program
    .command('down')
    .description("remove this machine's coordinator, its containers and its data directory")
    .option('--data <DIR>', 'data directory of up', defaultDataDir())
    .option('--yes', 'do not ask for confirmation')
    .action(down);
}

/** Removes a data directory of `up` with its containers. Stops its coordinator first. Throws `ExitError`. */
export async function down(options: { data: string; yes?: boolean }): Promise<void> {
  const { data } = options;
  if (!existsSync(data)) throw new ExitError(EXIT_CODES.environment, `${data} does not exist.`);
  // The whole directory will be deleted, so a mistyped path must not delete anything else.
  if (![DATABASE_FILE, CLUSTER_FILE].some((name) => existsSync(join(data, name)))) {
    throw new ExitError(
      EXIT_CODES.usage,
      `${data} is not a data directory of Everynode. Nothing was changed.`,
    );
  }
  if (!options.yes && !(await confirmed(data)))
    throw new ExitError(EXIT_CODES.refused, 'Nothing was changed.');
  const progress = terminalProgress();
  const lock = await takeOver(data, progress);
  if (existsSync(agentDataDir(data))) {
    await progress.step("removing this coordinator's containers", async () =>
      runAgentCommand(['remove-containers', '--data', agentDataDir(data)]),
    );
  }
  rmSync(data, { recursive: true, force: true });
  lock.release();
  progress.print(`${data} is removed.`);
}

async function confirmed(data: string): Promise<boolean> {
  const question = `This stops and removes the coordinator's containers on this machine and deletes ${data}. Continue?`;
  const isConfirmed = await confirmAtTerminal(question);
  if (isConfirmed !== undefined) return isConfirmed;
  throw new ExitError(EXIT_CODES.usage, 'There is no terminal for the confirmation: pass --yes.');
}

/** Stops the coordinator that uses this directory, and locks the directory so that no other one starts. */
async function takeOver(data: string, progress: Progress): Promise<DataLock> {
  const free = tryLock(data);
  if (free) return free;
  const pid = readPid(data);
  return progress.step(`stopping process ${pid}`, async () => {
    process.kill(pid, 'SIGTERM');
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    for (let lock = tryLock(data); ; lock = tryLock(data)) {
      if (lock) return lock;
      if (performance.now() > deadline) {
        throw new ExitError(EXIT_CODES.environment, `Process ${pid} did not stop. Nothing was removed.`);
      }
      await new Promise((resolve) => setTimeout(resolve, STOP_POLL_MS));
    }
  });
}

/** Throws `ExitError` if the process that holds the lock has not written its id yet. */
function readPid(data: string): number {
  try {
    return Number(readFileSync(pidPath(data), 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.environment,
      `A coordinator uses ${data}, but its process id cannot be read: ${why}.`,
    );
  }
}

function tryLock(data: string): DataLock | undefined {
  try {
    return acquireDataLock(data);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'locked') return undefined;
    throw error;
  }
}
