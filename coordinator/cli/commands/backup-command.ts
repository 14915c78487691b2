/** `everynode backup`: writes one file with all data of a coordinator: of this machine, running or not, or by its API. */

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { withExitErrors } from '../../exit-errors.js';
import { BACKUPS_DIRECTORY, backupName, takeBackup } from '../../store/backup/take-backup.js';
import { connect } from '../client/api-client.js';
import { downloadBackup } from '../client/backup-client.js';
import { addContextOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { localData } from '../client/local-data.js';

interface BackupOptions extends KubeconfigOptions {
  to?: string;
}

interface WrittenBackup {
  path: string;
  revision: number;
}

export function backupCommand(program: Command): void {
  const command = program
    .command('backup')
    .description(
      'write a backup of database, certificate authority, keys and kubeconfig, readable only by its owner',
    )
    .option(
      '--data <DIR>',
      'data directory to back up, also while no coordinator runs (default that of this machine; without one, the coordinator of the kubeconfig sends the backup)',
    )
    .option(
      '--to <FILE>',
      `file or directory to write to (default DATA/${BACKUPS_DIRECTORY}; the current directory if the API sends it)`,
    );
  addContextOptions(command).action(backup);
}

async function backup(options: BackupOptions): Promise<void> {
  const now = Date.now();
  const data = localData(options);
  const { path, revision } = await (data === undefined
    ? downloaded(options, now)
    : written(data, options.to, now));
  const about = `revision ${revision}, ${statSync(path).size} bytes`;
  printLine(
    `${path}: ${about}. It contains the keys of the fleet: protect it like the coordinator's machine.`,
  );
}

async function written(data: string, to: string | undefined, now: number): Promise<WrittenBackup> {
  const path = targetOf(to ?? join(data, BACKUPS_DIRECTORY, backupName('manual', now)), now);
  const { revision } = await withExitErrors(() => takeBackup(data, path, now), '--to');
  return { path, revision };
}

async function downloaded(options: BackupOptions, now: number): Promise<WrittenBackup> {
  const path = targetOf(options.to ?? '.', now);
  return { path, revision: await downloadBackup(connect(options), path) };
}

function targetOf(to: string, now: number): string {
  const path = resolve(to);
  return existsSync(path) && statSync(path).isDirectory() ? join(path, backupName('manual', now)) : path;
}
