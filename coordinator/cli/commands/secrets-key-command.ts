/** `everynode secrets-key rotate`: adds a new encryption key for Secrets in the database. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { countText } from '../../../shared/kube/objects/count-text.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument } from '../../../shared/process/output/terminal-output.js';
import { secretsKeyPath } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { withExitErrors } from '../../exit-errors.js';
import { addEncryptionKey } from '../../store/encryption/encryption-keys.js';

export function secretsKeyCommand(program: Command): void {
  program
    .command('secrets-key')
    .description('the keys that Secrets in the database are encrypted under')
    .command('rotate')
    .description(
      'put a new key before the others; the next start of the coordinator encrypts everything under it',
    )
    .option('--secrets-key-file <FILE>', 'the file with the keys, where the coordinator was given one')
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .action(rotate);
}

async function rotate(options: { data: string; secretsKeyFile?: string }): Promise<void> {
  const path = secretsKeyPath(options, process.env);
  if (!existsSync(path)) {
    throw new ExitError(
      EXIT_CODES.environment,
      `There is no ${path}: a coordinator makes it at its first start.`,
    );
  }
  const count = await withExitErrors(
    () => addEncryptionKey(path),
    options.secretsKeyFile === undefined ? '--data' : '--secrets-key-file',
  );
  printDocument(
    `${path} holds ${countText(count, 'key')} now. Restart the coordinator: it encrypts all Secrets under the new one.\n` +
      'The old lines are needed for older backups alone.\n',
  );
}
