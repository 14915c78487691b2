/** Runs the `nft` command. */
import { spawn } from 'node:child_process';

/** Timeout for one run. A kernel with many rules of other programs answers listings slowly. */
const TIMEOUT_MS = 60_000;
/** More than the listing of 100,000 chains, of which other programs may have some. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Why nft did not do what it was asked for. */
type NftFailure = 'missing' | 'notPermitted' | 'refused';

export class NftError extends Error {
  constructor(
    readonly failure: NftFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Runs nft with the script on its standard input, if any. Resolves with its output. Rejects with `NftError`. */
export async function runNft(args: readonly string[], script = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (failure: NftFailure, message: string): void => reject(new NftError(failure, message));
    const nft = spawn('nft', args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      env: environment(),
    });
    const output: Buffer[] = [];
    let size = 0;
    let errors = '';
    nft.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) nft.kill('SIGKILL');
      else output.push(chunk);
    });
    nft.stderr.setEncoding('utf8').on('data', (text: string) => {
      // A refused script is quoted for each of its lines.
      errors = (errors + text).slice(0, 4096);
    });
    nft.on('error', (error: NodeJS.ErrnoException) =>
      fail(error.code === 'ENOENT' ? 'missing' : 'refused', error.message),
    );
    nft.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(output).toString());
      else
        fail(
          errors.includes('Operation not permitted') ? 'notPermitted' : 'refused',
          firstError(errors, signal),
        );
    });
    // nft may exit before it reads its input.
    nft.stdin.on('error', () => undefined).end(script);
  });
}

/** A service's PATH may lack the directories for administrators. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C' };
}

function firstError(errors: string, signal: NodeJS.Signals | null): string {
  const line = errors.split('\n').find((text) => text.includes('Error:')) ?? errors.split('\n')[0];
  return line || `nft ended with ${signal ?? 'an error'}`;
}
