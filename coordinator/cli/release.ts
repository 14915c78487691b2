/** `everynode release add`: what `npm run release` made becomes what hosts are given. */

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printLine } from '../../shared/process/terminal-output.js';
import { releaseDirectory } from '../data-dir.js';
import { defaultDataDir } from '../settings.js';

/** Adds the command. */
export function releaseCommand(program: Command): void {
  program
    .command('release')
    .description('versions of the agent that hosts are given')
    .command('add')
    .argument('<DIR>', 'what npm run release made')
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .description('let hosts have the agent of this release; to upgrade them is a Pod’s wish (see README)')
    .action((folder: string, { data }: { data: string }) => {
      printLine(`agent ${addRelease(folder, data)} can be had`);
    });
}

/** Puts a release where hosts are given it from, for all to read; answers its version. Throws `ExitError`. */
export function addRelease(folder: string, dataDir: string): string {
  const sums = join(folder, 'SHA256SUMS');
  const version =
    existsSync(sums) && /everynode-agent-(\d+\.\d+\.\d+\S*?)-linux/.exec(readFileSync(sums, 'utf8'))?.[1];
  if (!version) throw new ExitError(EXIT_CODES.usage, `${folder} holds no release: it has no SHA256SUMS.`);
  const target = join(releaseDirectory(dataDir), version);
  mkdirSync(target, { recursive: true });
  // The list last: what it names is there by then.
  const served = readdirSync(folder).filter((name) => /\.(gz|xz|sig|pub)$/.test(name));
  for (const name of [...served, 'SHA256SUMS']) copyFileSync(join(folder, name), join(target, name));
  return version;
}
