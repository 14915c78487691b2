/**
 * `everynode restore FILE` creates a data directory from a backup. `everynode confirm-restore` lets the controllers
 * start afterwards.
 */

import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { RESTORE_PATH, type RestoreDocument } from '../../api/fleet/restore-resource.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { epochFrom } from '../../decisions/restore/unknown-pod.js';
import { withExitErrors } from '../../exit-errors.js';
import { restoreBackup } from '../../store/backup/restore-backup.js';
import type { NameEpoch } from '../../store/sqlite/sqlite-identity.js';
import { StoreError } from '../../store/store-error.js';
import { connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';

interface RestoreOptions {
  data: string;
  replace?: boolean;
}

export function restoreCommands(program: Command): void {
  program
    .command('restore')
    .description('create a data directory from a backup, here or on a new machine; containers keep running')
    .argument('<FILE>', 'file written by "everynode backup"')
    .option('--data <DIR>', 'data directory to create', defaultDataDir())
    .option('--replace', 'move an existing data directory aside')
    .action(restore);
  const confirm = program
    .command('confirm-restore')
    .description(
      'after a restore, when the hosts have reconnected: let controllers create, replace and delete Pods again',
    );
  addKubeconfigOptions(confirm).action(confirmRestore);
}

async function restore(file: string, { data, replace = false }: RestoreOptions): Promise<void> {
  const nameEpoch: NameEpoch = (from) => epochFrom(randomUUID(), from);
  const options = { file: resolve(file), dataDir: data, replace, now: Date.now(), nameEpoch };
  const { manifest, movedTo } = await withExitErrors(() => restoreBackup(options).catch(adviseReplace));
  if (movedTo) printLine(`The previous data was moved to ${movedTo}.`);
  printDocument(
    `Restored the backup of ${new Date(manifest.takenAt).toISOString()} into ${data}.\n` +
      'Start the coordinator at the same address as before. No container stops. As hosts reconnect, they report what they\n' +
      'run, and the coordinator stores it. When "kubectl get nodes,pods -A" shows what you expect, run:\n' +
      '  everynode confirm-restore\n' +
      'Until then controllers do not create, replace or delete Pods.\n',
  );
}

function adviseReplace(error: unknown): never {
  if (error instanceof StoreError && error.code === 'occupied') {
    throw new StoreError('occupied', `${error.message}; --replace moves it aside`);
  }
  throw error;
}

async function confirmRestore(options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  const { unconfirmed } = await api.request<RestoreDocument>('GET', RESTORE_PATH);
  if (!unconfirmed) {
    printLine('There is nothing to confirm.');
    return;
  }
  await api.request('POST', RESTORE_PATH);
  printLine('Confirmed: controllers are running.');
}
