/** `everynode secrets-key rotate`: adds a new encryption key for Secrets in the database. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { countText } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument } from '../../../shared/process/output/terminal-output.js';
import { secretsKeyPath } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { withExitErrors } from '../../exit-errors.js';
import { addEncryptionKey } from '../../store/encryption/encryption-keys.js';

export function secretsKeyCommand(program: Command): void {
  program
    .command('secrets-key')
    .description('manage the encryption keys for Secrets in the database')
    .command('rotate')
    .description('add a new key; at its next start the coordinator encrypts everything with it')
    .option('--secrets-key-file <FILE>', 'file with the keys, if the coordinator has this setting')
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .action(rotate);
}

async function rotate(options: { data: string; secretsKeyFile?: string }): Promise<void> {
  const path = secretsKeyPath(options, process.env);
  if (!existsSync(path)) {
    throw new ExitError(
      EXIT_CODES.environment,
      `${path} does not exist: a coordinator creates it at its first start.`,
    );
  }
  const count = await withExitErrors(
    () => addEncryptionKey(path),
    options.secretsKeyFile === undefined ? '--data' : '--secrets-key-file',
  );
  printDocument(
    `${path} contains ${countText(count, 'key')} now. Restart the coordinator: it encrypts all Secrets with the new one.\n` +
      'The old keys are needed only for older backups.\n',
  );
}
