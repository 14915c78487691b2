/** Runs other commands of this program as child processes. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES, type ExitCode, ExitError } from '../../../shared/process/exit-error.js';

const PROGRAM = fileURLToPath(new URL('../everynode.js', import.meta.url));

/** Program and first arguments of the `everynode` command. */
export const EVERYNODE: readonly [string, string] = [process.execPath, PROGRAM];

/** Runs a command with `input` as its standard input and returns its output. Throws `ExitError` with its error. */
export async function runEverynode(args: readonly string[], input = ''): Promise<string> {
  const [program, script] = EVERYNODE;
  const child = spawn(program, [script, ...args], { stdio: 'pipe', detached: true });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // A command that fails early does not read its input.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code === 0) return output;
  throw new ExitError((code ?? EXIT_CODES.unexpected) as ExitCode, errors.trimEnd());
}
