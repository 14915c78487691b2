/** Whether a program that was fetched works on this host, before anything depends on it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RuntimeError } from '../runtime/runtime-driver.js';

const PATIENCE_MS = 30_000;

/** Throws `RunContainerError` unless the program starts here and is the version. */
export async function checkProgram(program: string, version: string): Promise<void> {
  const wish = { timeout: PATIENCE_MS, env: { PATH: process.env.PATH ?? '' } };
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], wish);
    if (stdout.trim() === version) return;
    throw new Error(`it says that it is ${stdout.trim().slice(0, 40)}`);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new RuntimeError('RunContainerError', `agent ${version} does not run on this host: ${why}`, false);
  }
}
