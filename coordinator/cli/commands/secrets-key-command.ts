/** `everynode secrets-key rotate`: adds a new encryption key for Secrets in the database. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { countText } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { createLogger } from '../../../shared/process/output/logger.js';
import { printDocument } from '../../../shared/process/output/terminal-output.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { CLUSTER_SETTINGS } from '../../cluster/cluster-settings.js';
import { FleetKeySync } from '../../cluster/keys/fleet-key-sync.js';
import type { MemberFile } from '../../cluster/member-file.js';
import { asOwnerOf, secretsKeyPath } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { withExitErrors } from '../../exit-errors.js';
import { addEncryptionKey } from '../../store/encryption/encryption-keys.js';
import { withMemberStorage } from '../machine/etcd-storage.js';

export function secretsKeyCommand(program: Command): void {
  const rotateCommand = program
    .command('secrets-key')
    .description('manage the encryption keys for Secrets in the database')
    .command('rotate')
    .description('add a new key; at its next start the coordinator encrypts everything with it')
    .option('--secrets-key-file <FILE>', 'file with the keys, if the coordinator has this setting')
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .option('--config <FILE>', 'YAML file with the settings of etcd (default that of the installed service)');
  addSettingFlags(rotateCommand, CLUSTER_SETTINGS).action(rotate);
}

type RotateOptions = Record<string, unknown> & { data: string; secretsKeyFile?: string };

async function rotate(options: RotateOptions): Promise<void> {
  const path = secretsKeyPath(options, process.env);
  if (!existsSync(path)) {
    throw new ExitError(
      EXIT_CODES.environment,
      `${path} does not exist: a coordinator creates it at its first start.`,
    );
  }
  const addKey = () =>
    withExitErrors(
      () => addEncryptionKey(path),
      options.secretsKeyFile === undefined ? '--data' : '--secrets-key-file',
    );
  const shared = await withMemberStorage(options.data, options, needsEtcd, (opened) =>
    asOwnerOf(options.data, () => addSharedKey(options.data, opened, addKey)),
  );
  const count = shared ?? (await addKey());
  printDocument(
    `${path} contains ${countText(count, 'key')} now. Restart the coordinator: it encrypts all Secrets with the new one.\n` +
      'The old keys are needed only for older backups.\n',
  );
}

function needsEtcd({ memberId }: MemberFile): never {
  throw new ExitError(
    EXIT_CODES.usage,
    `This is coordinator ${memberId} of a cluster: pass its --etcd options, so that the other coordinators get the new key.`,
  );
}

/**
 * The new key is stored for the other coordinators before this command ends. Otherwise the machine could die with the
 * only copy, or a member that does not lead would have a key that no leader uses. Returns the number of keys.
 */
async function addSharedKey(
  dataDir: string,
  { member, storage }: Parameters<Parameters<typeof withMemberStorage>[3]>[0],
  addKey: () => Promise<number>,
): Promise<number> {
  const { clusterUID, memberId, server } = member;
  const leader = await storage.leader();
  if (leader?.memberId !== memberId) {
    const where = leader?.memberId ?? 'none does now';
    throw new ExitError(
      EXIT_CODES.refused,
      `Run this command on the machine of the coordinator that leads: ${where} (everynode coordinator members).`,
    );
  }
  const log = createLogger('error');
  const keys = new FleetKeySync({ dataDir, server, clusterUID, keys: storage, clock: systemClock, log });
  const count = await addKey();
  await keys.publish();
  return count;
}
