/** Configuration of commander: errors are one sentence that suggests the nearest valid flag or command. */

import { Command, CommanderError } from 'commander';
import { closest } from 'fastest-levenshtein';
import { EXIT_CODES, ExitError } from '../exit-error.js';
import { printDocument, printErrorDocument } from '../output/terminal-output.js';

/** Returns a program's root command. Subcommands inherit its error handling. */
export function createCommandLine(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: () => undefined, writeOut: printDocument, writeErr: printErrorDocument });
}

/** Parses the arguments and runs the command. Throws `ExitError` for invalid ones. `--help` exits with 0. */
export async function runCommandLine(program: Command, argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    throw new ExitError(EXIT_CODES.usage, sentenceOf(error, program));
  }
}

function sentenceOf(error: CommanderError, program: Command): string {
  switch (error.code) {
    case 'commander.help':
      // Commander has already printed the help of a command without its required subcommand.
      return '';
    case 'commander.excessArguments': {
      const names = program.commands.map((command) => command.name());
      // The command is known, so it is its own argument that is unexpected.
      if (names.includes(program.args[0] ?? '')) return withSuggestion(error.message);
      const nearest = closest(program.args[0] ?? '', names);
      return `Unknown command '${program.args[0]}'${nearest ? `, did you mean ${nearest}?` : '.'}`;
    }
    default:
      return withSuggestion(error.message);
  }
}

function withSuggestion(message: string): string {
  const [what = '', hint = ''] = message.replace(/^error: /, '').split('\n');
  const nearest = hint.replace(/^\(Did you mean (.*)\?\)$/, ', did you mean $1?');
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${nearest || (what.endsWith('.') ? '' : '.')}`;
}
