/** Runs a system command to its end. */
import { execFileSync } from 'node:child_process';

/** Returns the output. Throws with it if the command fails. */
export function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
