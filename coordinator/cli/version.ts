/** `everynode version` */
import type { Command } from 'commander';
import { VERSION } from '../../shared/process/version.js';

/** Adds the command. */
export function versionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .action(() => void process.stdout.write(`everynode ${VERSION} (node ${process.version})\n`));
}
