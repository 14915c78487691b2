/** `everynode coordinator token` and `everynode coordinator join`: another coordinator for the fleet. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument } from '../../../shared/process/output/terminal-output.js';
import { readJoinToken } from '../../../shared/process/settings/join-token-source.js';
import { optionalTextSetting, secretTextSetting } from '../../../shared/process/settings/setting-values.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import { CLUSTER_SETTINGS } from '../../cluster/cluster-settings.js';
import { COORDINATOR_SETTINGS, ENVIRONMENT_PREFIX } from '../../coordinator-settings.js';
import { memberServer } from '../../server-addresses.js';
import { connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { withClusterErrors } from '../machine/cluster-errors.js';
import { checkedStorage } from '../machine/etcd-storage.js';
import { durationSeconds, readSettings } from '../terminal/command-options.js';

const { data, port, advertise } = COORDINATOR_SETTINGS;

/** The settings of a new member. */
export const MEMBER_SETTINGS = { data, port, advertise, ...CLUSTER_SETTINGS };

const JOIN_SETTINGS = {
  ...MEMBER_SETTINGS,
  // Not a flag: every user of the machine can read the arguments of a program.
  token: secretTextSetting(`${ENVIRONMENT_PREFIX}_TOKEN`),
  tokenFile: optionalTextSetting('file with the token; - reads standard input', 'FILE'),
};

export function addJoinCommands(coordinator: Command): void {
  const token = coordinator
    .command('token')
    .description('create a token for one more coordinator and print the command that joins it')
    .option('--ttl <DURATION>', 'lifetime: 15m, 1h; at most 24h', '15m');
  addKubeconfigOptions(token).action(createCoordinatorToken);
  const joinCommand = coordinator
    .command('join')
    .argument('<URL>', 'https://HOST:PORT of any coordinator of the fleet')
    .description('make this machine another coordinator of the fleet');
  addSettingFlags(joinCommand, JOIN_SETTINGS).action(joinFleet);
}

async function createCoordinatorToken({
  ttl,
  ...options
}: KubeconfigOptions & { ttl: string }): Promise<void> {
  const seconds = durationSeconds(ttl);
  if (seconds < 1)
    throw new ExitError(EXIT_CODES.usage, '--ttl: must be at least 1s; these tokens always expire.');
  const path = `/apis/${FLEET_GROUP}/v1/coordinatortokens?ttlSeconds=${seconds}`;
  const made = await connect(options).request<CoordinatorTokenDocument>('POST', path);
  const files = made.etcd.some((endpoint) => endpoint.startsWith('https:'))
    ? ' --etcd-ca ca.crt --etcd-cert client.crt --etcd-key client.key'
    : '';
  printDocument(
    `Run on the new machine until ${made.expirationTime}, with its certificate for etcd:\n` +
      `  echo ${made.token} | everynode coordinator join ${made.server} --token-file - --etcd ${made.etcd.join(',')}${files}\n` +
      'The token is used up by one join. It fetches the keys of the whole fleet: send it only over a channel that you trust.\n',
  );
}

async function joinFleet(url: string, flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(JOIN_SETTINGS, flags);
  const token = await readJoinToken(settings);
  if (token === undefined) {
    throw new ExitError(
      EXIT_CODES.usage,
      `No token: pass it with --token-file FILE or in ${ENVIRONMENT_PREFIX}_TOKEN (everynode coordinator token makes one).`,
    );
  }
  const openStorage = await checkedStorage(settings);
  const { joinCluster } = await import('../../cluster/join/join-cluster.js');
  const member = await withClusterErrors(() =>
    joinCluster({
      ...{ coordinator: url, token, dataDir: settings.data, openStorage },
      ...{ name: hostname(), server: memberServer(settings), now: Date.now() },
    }),
  );
  printDocument(
    `This machine is coordinator ${member.memberId} at ${member.server}. Its first start copies the database from the leader.\n` +
      `Run it in the foreground:\n  everynode coordinator ${startFlags(settings)}\n` +
      'Or as root, as a service:\n' +
      `  everynode coordinator install ${startFlags({ ...settings, data: undefined })}\n` +
      'Then check it: everynode coordinator members\n',
  );
}

type StartSettings = Partial<Awaited<ReturnType<typeof readSettings<typeof MEMBER_SETTINGS>>>>;

/** Returns the flags that differ from the defaults. */
export function startFlags(settings: StartSettings): string {
  const flags: [string, string | number | undefined][] = [
    ['--data', settings.data === data.default ? undefined : settings.data],
    ['--port', settings.port === port.default ? undefined : settings.port],
    ['--advertise', settings.advertise],
    ['--etcd', settings.etcd],
    ['--etcd-ca', settings.etcdCa],
    ['--etcd-cert', settings.etcdCert],
    ['--etcd-key', settings.etcdKey],
  ];
  return flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${value}`])).join(' ');
}
