/** Every setting of the coordinator: default, unit, meaning. Read once, checked, frozen, passed down. */
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import {
  choiceSetting,
  integerSetting,
  optionalText,
  textSetting,
} from '../shared/process/setting-values.js';
import type { SettingsOf } from '../shared/process/settings.js';

/** Prefix of the environment variables: `EVERYNODE_PORT`. */
export const ENVIRONMENT_PREFIX = 'EVERYNODE';

/** `/var/lib/everynode` for root, else `~/.local/share/everynode`. */
export function defaultDataDir(): string {
  return userInfo().uid === 0 ? '/var/lib/everynode' : join(homedir(), '.local/share/everynode');
}

export const COORDINATOR_SETTINGS = {
  data: textSetting('directory of the database, keys and kubeconfig', 'DIR', defaultDataDir()),
  port: integerSetting('TCP port of the API, the agents and the console', 'N', {
    min: 0,
    max: 65535,
    default: 6443,
  }),
  host: textSetting('address to listen on', 'ADDRESS', '0.0.0.0'),
  advertise: optionalText('host name or address that agents and kubectl are told to use', 'HOST'),
  nodeMonitorGraceMs: integerSetting('silence after which a node is NotReady, in ms', 'MS', {
    min: 1000,
    max: 2 ** 31 - 1,
    default: 40_000,
  }),
  backupSchedule: textSetting('cron pattern by which backups are taken, or off', 'CRON', '43 2 * * *'),
  backupsKept: integerSetting('scheduled backups kept', 'N', { min: 1, max: 10_000, default: 7 }),
  backupDir: optionalText('directory of scheduled backups instead of DATA/backups', 'DIR'),
  logLevel: choiceSetting('least severe log line written', ['debug', 'info', 'warn', 'error'], 'info'),
};

export type CoordinatorSettings = SettingsOf<typeof COORDINATOR_SETTINGS>;
