/**
 * Reads the join token. It is never a command line argument: every user of the host can read those, and sudo logs them.
 */
import { readFile } from 'node:fs/promises';
import { EXIT_CODES, ExitError } from '../exit-error.js';
import { printErrorLine } from '../output/terminal-output.js';

export const STANDARD_INPUT = '-';

interface TokenSettings {
  /** Value of the environment variable. */
  token?: string | undefined;
  tokenFile?: string | undefined;
}

/** Resolves with the file's first line, or the variable's value; undefined without either. Throws `ExitError`. */
export async function readJoinToken({ token, tokenFile }: TokenSettings): Promise<string | undefined> {
  if (tokenFile === undefined) return token?.trim();
  const line = tokenFile === STANDARD_INPUT ? await firstInputLine() : await firstLineOf(tokenFile);
  if (line?.trim()) return line.trim();
  const source = tokenFile === STANDARD_INPUT ? 'standard input' : tokenFile;
  throw new ExitError(EXIT_CODES.usage, `--token-file: ${source} holds no join token.`);
}

async function firstLineOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).split('\n', 1)[0];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `--token-file: ${file} cannot be read: ${why}.`);
  }
}

/** Resolves with undefined if the input ends before a line. */
async function firstInputLine(): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  if (process.stdin.isTTY) printErrorLine('Paste the join token and press Enter:');
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(undefined));
  });
}
