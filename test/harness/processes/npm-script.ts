/** What stands behind `npm run NAME --`: its words are read as our programs read theirs. */
import { type Command, InvalidArgumentError } from 'commander';
import { ExitError } from '../../../shared/process/exit-error.js';
import { createCommandLine, runCommandLine } from '../../../shared/process/settings/command-line.js';

/** A script by its name in package.json. It takes what is added to it, and `--help`. */
export function npmScript(name: string, description: string): Command {
  return createCommandLine(`npm run ${name} --`, description);
}

/** What the script was asked for. After `--help`, and with one sentence and exit code 2 after a mistake, the process has ended. */
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

/** Reads the text of an option or an argument. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It is no whole number.');
  return value;
}
