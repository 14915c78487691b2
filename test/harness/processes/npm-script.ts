/** Command lines of `npm run NAME --`, parsed like those of the product. */
import { type Command, InvalidArgumentError } from 'commander';
import { ExitError } from '../../../shared/process/exit-error.js';
import { createCommandLine, runCommandLine } from '../../../shared/process/settings/command-line.js';

/** Defines a script with its name in package.json, its arguments and `--help`. */
export function npmScript(name: string, description: string): Command {
  return createCommandLine(`npm run ${name} --`, description);
}

/** Parses the script's arguments. Exits after `--help`, and with one sentence and exit code 2 after a mistake. */
export async function parseScriptArguments<Options = object, Words extends unknown[] = []>(
  script: Command,
): Promise<{ options: Options; words: Words }> {
  let isRead = false;
  const read = script.action(() => {
    isRead = true;
  });
  try {
    await runCommandLine(read, process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    process.stderr.write(`${error.sentence}\n`);
    process.exit(error.code);
  }
  if (!isRead) process.exit(0);
  return { options: script.opts() as Options, words: script.processedArgs as Words };
}

/** Parses an option or argument as a whole number. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It is no whole number.');
  return value;
}
