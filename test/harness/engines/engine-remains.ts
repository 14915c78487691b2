/** Processes and files that a stopped engine leaves. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../basics/wait-until.js';

/** Set by the runner of tests: it removes the folders in this one while the tests continue. */
export const REMOVED_FOLDERS_VARIABLE = 'EVERYNODE_TEST_REMOVED_FOLDERS';

/**
 * Kills what an engine left: shims and monitors, which have the folder in their arguments, and their containers. Resolves
 * when they have exited: before, they can still write below the folder, and its removal would fail.
 */
export async function endProcessesBelow(folder: string): Promise<void> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const left = pids.filter((pid) => readIfThere(`/proc/${pid}/cmdline`).includes(`${folder}/`));
  const children = left.flatMap((pid) => readIfThere(`/proc/${pid}/task/${pid}/children`).split(' '));
  const killed = [...children, ...left].filter((text) => text !== '');
  for (const pid of killed) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  const what = `the end of processes ${killed.join(', ')} below ${folder}`;
  await until(() => killed.every(hasExited), { what });
}

/** A process that its parent has not reaped yet has closed its files. */
function hasExited(pid: string): boolean {
  const status = readIfThere(`/proc/${pid}/status`);
  return status === '' || /^State:\s+[ZX]/m.test(status);
}

/**
 * Removes a folder. The engine of test hosts has twenty thousand files of their systems: a test that waited for their
 * removal would take up to 40 s longer on a busy machine. The runner of tests removes them, and reports failures.
 */
export async function removeEngineFolder(folder: string): Promise<void> {
  const removed = process.env[REMOVED_FOLDERS_VARIABLE];
  if (removed !== undefined) renameSync(folder, join(removed, basename(folder)));
  else await promisify(execFile)('rm', ['-rf', folder]);
}

/** A process may exit while its files are read. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
