/** Who looks at a trial from outside: systemd runs the old version's program once the time is over, whatever the new one does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RuntimeError } from '../runtime/runtime-driver.js';

/** Within so long a new version has to reach the coordinator. */
export const TRIAL_MS = 120_000;
/** The new version itself goes back first, if it can. */
const GUARD_SECONDS = TRIAL_MS / 1000 + 30;

/** Resolves when systemd has taken the task. Throws `RunContainerError`: without a way back nothing is tried. */
export async function guardTrial(program: string, id: string): Promise<void> {
  const unit = ['--collect', `--unit=everynode-agent-trial-${id}`, `--on-active=${GUARD_SECONDS}`];
  try {
    await promisify(execFile)('systemd-run', [...unit, program, 'recover', '--trial', id]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RuntimeError('RunContainerError', `the way back cannot be prepared: ${why}`, true);
  }
}
