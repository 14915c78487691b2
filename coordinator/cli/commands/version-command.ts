/** `everynode version` */

import type { Command } from 'commander';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { VERSION } from '../../../shared/process/release-version.js';

/** Adds the command. */
export function versionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .action(() => printLine(`everynode ${VERSION} (node ${process.version})`));
}
