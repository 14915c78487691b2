/** `everynode backup`: writes one file with all data of a coordinator, running or not. */

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { withExitErrors } from '../../exit-errors.js';
import { BACKUPS_DIRECTORY, backupName, takeBackup } from '../../store/backup/take-backup.js';

interface BackupOptions {
  data: string;
  to?: string;
}

export function backupCommand(program: Command): void {
  program
    .command('backup')
    .description(
      'write a backup of database, certificate authority, keys and kubeconfig, readable only by root',
    )
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .option('--to <FILE>', `file or directory to write to (default DATA/${BACKUPS_DIRECTORY})`)
    .action(backup);
}

async function backup({ data, to }: BackupOptions): Promise<void> {
  const now = Date.now();
  const path = targetOf(to ?? join(data, BACKUPS_DIRECTORY, backupName('manual', now)), now);
  const manifest = await withExitErrors(() => takeBackup(data, path, now), '--to');
  const about = `revision ${manifest.revision}, ${statSync(path).size} bytes`;
  printLine(`${path}: ${about}. It contains the keys of the fleet: protect it like this machine.`);
}

function targetOf(to: string, now: number): string {
  const path = resolve(to);
  return existsSync(path) && statSync(path).isDirectory() ? join(path, backupName('manual', now)) : path;
}
