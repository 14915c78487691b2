/** A command of the machine, run to its end. */
import { execFileSync } from 'node:child_process';

/** Answers what it printed. Throws when it fails, with what it said. */
export function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
