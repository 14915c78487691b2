/** `everynode coordinator clusterize`: lets other coordinators join, or makes the last one a single coordinator again. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import { secretsKeyPath } from '../../coordinator-data-dir.js';
import { COORDINATOR_SETTINGS } from '../../coordinator-settings.js';
import { memberServer } from '../../server-addresses.js';
import { withClusterErrors } from '../machine/cluster-errors.js';
import { checkedStorage } from '../machine/etcd-storage.js';
import { serviceConfig, withServiceStopped } from '../machine/stopped-service.js';
import { readSettings } from '../terminal/command-options.js';
import { MEMBER_SETTINGS, startFlags } from './coordinator-join-command.js';

/** Its flags. The other settings are read from the settings file, which contains the port of an installed service. */
const CLUSTERIZE_FLAGS = { ...MEMBER_SETTINGS, secretsKeyFile: COORDINATOR_SETTINGS.secretsKeyFile };

export function addClusterizeCommand(coordinator: Command): void {
  const command = coordinator
    .command('clusterize')
    .description('move a stopped coordinator, or the installed service, to etcd, so that others can join')
    .option('--undo', 'make the last coordinator of the fleet a single one again')
    .option('--etcd-lost', 'with --undo: etcd has lost its data, and all coordinators are stopped')
    .option('--config <FILE>', 'YAML file with settings (default that of the installed service)');
  addSettingFlags(command, CLUSTERIZE_FLAGS).action(run);
}

async function run({ undo, etcdLost, ...flags }: Record<string, unknown>): Promise<void> {
  const config = flags.config ?? serviceConfig(flags.data);
  const settings = await readSettings(COORDINATOR_SETTINGS, { ...flags, config });
  const openStorage = await checkedStorage(settings);
  const { clusterize, undoClusterize } = await import('../../cluster/clusterize.js');
  const { data: dataDir, etcd, etcdCa, etcdCert, etcdKey } = settings;
  if (undo) {
    const without = { etcd: undefined, etcdCa: undefined, etcdCert: undefined, etcdKey: undefined };
    const done = await withServiceStopped(dataDir, without, () =>
      withClusterErrors(() => undoClusterize(dataDir, openStorage, { isEtcdLost: etcdLost === true })),
    );
    printLine(
      `${dataDir} is the data of a single coordinator again. etcd names no fleet any more; the last entry of the log is still in it.`,
    );
    if (!done.isService) printLine('Start it without --etcd: everynode coordinator');
    return;
  }
  const { result: member, isService } = await withServiceStopped(
    dataDir,
    { etcd, etcdCa, etcdCert, etcdKey },
    () =>
      withClusterErrors(() =>
        clusterize({
          ...{ dataDir, openStorage, now: Date.now(), name: hostname(), server: memberServer(settings) },
          secretsKeyPath: secretsKeyPath(settings, process.env),
        }),
      ),
  );
  printDocument(
    `This machine is coordinator ${member.memberId} at ${member.server}.\n` +
      (isService ? '' : `Start it: everynode coordinator ${startFlags(settings)}\n`) +
      'Then let another machine join: everynode coordinator token\n',
  );
}
