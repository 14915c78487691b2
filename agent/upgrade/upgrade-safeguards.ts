/** Safeguards against upgrades that do not work: the new program is tried first, and systemd checks its trial. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RuntimeError } from '../runtime/runtime-driver.js';

/** Time for a new version to reach the coordinator. */
export const TRIAL_MS = 120_000;
/** Later than the new version's own rollback, which has precedence. */
const GUARD_SECONDS = TRIAL_MS / 1000 + 30;

/** Schedules the rollback with systemd. Throws `RunContainerError`: without it the upgrade must not start. */
export async function guardTrial(program: string, id: string): Promise<void> {
  const unit = ['--collect', `--unit=everynode-agent-trial-${id}`, `--on-active=${GUARD_SECONDS}`];
  try {
    await promisify(execFile)('systemd-run', [...unit, program, 'recover', '--trial', id]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RuntimeError('RunContainerError', `cannot schedule the rollback of the upgrade: ${why}`, true);
  }
}

const CHECK_TIMEOUT_MS = 30_000;

/** Throws `RunContainerError` unless the program runs on this host and reports this version. */
export async function checkProgram(program: string, version: string): Promise<void> {
  const options = { timeout: CHECK_TIMEOUT_MS, env: { PATH: process.env.PATH ?? '' } };
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], options);
    if (stdout.trim() === version) return;
    throw new Error(`it reports version ${stdout.trim().slice(0, 40)}`);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new RuntimeError('RunContainerError', `agent ${version} does not run on this host: ${why}`, false);
  }
}
