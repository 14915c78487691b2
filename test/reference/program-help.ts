/** The help texts of all commands of both programs. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createEverynodeProgram } from '../../coordinator/cli/everynode-program.js';
import { withoutMachine } from './reference-tables.js';

export interface ProgramHelp {
  /** The command as typed, such as `everynode token create`. */
  path: string;
  text: string;
}

function helpOf(command: Command, path: string, width: number): ProgramHelp[] {
  if (command.name() === 'help') return [];
  command.configureHelp({ helpWidth: width });
  const text = withoutMachine(command.helpInformation()).trim();
  return [
    { path, text },
    ...command.commands.flatMap((each) => helpOf(each, `${path} ${each.name()}`, width)),
  ];
}

/** The help of `everynode` and its commands, wrapped at `width` columns. */
export function everynodeHelp(width: number): ProgramHelp[] {
  return helpOf(createEverynodeProgram(), 'everynode', width);
}

/**
 * The help of `everynode-agent` and its commands. The program parses its arguments when it is loaded, so its help is
 * read from a process.
 */
export function agentHelp(root: string): ProgramHelp[] {
  const program = join(root, 'dist/agent/program.js');
  const help = (...words: string[]) =>
    withoutMachine(
      execFileSync(process.execPath, [program, ...words, '--help'], { encoding: 'utf8' }),
    ).trim();
  const main = help();
  const [, commands = ''] = main.split('Commands:');
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  return ['', ...names].map((name) => ({
    path: `everynode-agent${name && ` ${name}`}`,
    text: name === '' ? main : help(name),
  }));
}
