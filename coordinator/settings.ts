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
import { DEFAULT_CLIENT_LIMITS } from './api/client-limits.js';
import { REQUEST_LOGS } from './api/request-log.js';

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
  clientRequestsPerSecond: integerSetting(
    'requests per second of one user at one address before 429 Too Many Requests, 0 = no limit',
    'N',
    { min: 0, max: 1_000_000, default: DEFAULT_CLIENT_LIMITS.requestsPerSecond },
  ),
  clientBurst: integerSetting('requests at once that such a client may make after a rest', 'N', {
    min: 1,
    max: 1_000_000,
    default: DEFAULT_CLIENT_LIMITS.burst,
  }),
  requestLog: choiceSetting(
    'API requests that get a log line: none, what changes something or is refused, or all',
    REQUEST_LOGS,
    'changes',
  ),
  requestLogFile: optionalText('file that these lines are appended to, instead of the log', 'FILE'),
  logLevel: choiceSetting('least severe log line written', ['debug', 'info', 'warn', 'error'], 'info'),
};

export type CoordinatorSettings = SettingsOf<typeof COORDINATOR_SETTINGS>;
