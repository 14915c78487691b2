/** All settings of the coordinator with their defaults and units. Read and validated once at the start. */
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { readDuration } from '../shared/kube/objects/go-duration.js';
import {
  checkedTextSetting,
  choiceSetting,
  integerSetting,
  numberSetting,
  optionalTextSetting,
  switchSetting,
  textSetting,
} from '../shared/process/settings/setting-values.js';
import type { SettingsOf } from '../shared/process/settings/settings-schema.js';
import { ACCESS_SETTINGS } from './access/access-settings.js';
import { REQUEST_LOGS } from './api/http/request-log.js';
import { DEFAULT_CLIENT_LIMITS } from './api/limits/client-limits.js';
import { DEFAULT_EVICTION_RATES, type EvictionRates } from './decisions/nodes/zone-health.js';

/** Prefix of the environment variables: `EVERYNODE_PORT`. */
export const ENVIRONMENT_PREFIX = 'EVERYNODE';

/** Returns `/var/lib/everynode` for root, else `~/.local/share/everynode`. */
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
  advertise: optionalTextSetting('host name or address that agents and kubectl are told to use', 'HOST'),
  nodeMonitorGracePeriod: checkedTextSetting(
    'silence after which a node is NotReady; a node may have its own, and its Lease lasts as long',
    'DURATION',
    '40s',
    (text) => readDuration(text, 1_000),
  ),
  nodeStartupGracePeriod: checkedTextSetting(
    "how long after the coordinator's start nodes may take to come back before that counts",
    'DURATION',
    '75s',
    readDuration,
  ),
  nodeMonitorPeriod: checkedTextSetting(
    'how long a node that is not ready is looked at among its neighbours before its pods may be evicted',
    'DURATION',
    '5s',
    readDuration,
  ),
  nodeEvictionRate: numberSetting(
    'nodes per second and zone that are emptied when they are not ready',
    'RATE',
    {
      min: 0,
      max: 1_000,
      default: DEFAULT_EVICTION_RATES.nodeEvictionRate,
    },
  ),
  secondaryNodeEvictionRate: numberSetting(
    'the same in a large zone of which a part is down; in a small one nobody is evicted then',
    'RATE',
    { min: 0, max: 1_000, default: DEFAULT_EVICTION_RATES.secondaryNodeEvictionRate },
  ),
  unhealthyZoneThreshold: numberSetting(
    'share of nodes not ready from which on a zone counts as partly down',
    'SHARE',
    {
      min: 0,
      max: 1,
      default: DEFAULT_EVICTION_RATES.unhealthyZoneThreshold,
    },
  ),
  largeClusterSizeThreshold: integerSetting('nodes above which a zone counts as large', 'N', {
    min: 0,
    max: 1_000_000,
    default: DEFAULT_EVICTION_RATES.largeClusterSizeThreshold,
  }),
  tlsCertFile: optionalTextSetting(
    'certificate to serve with instead of our own, its chain behind it',
    'FILE',
  ),
  tlsPrivateKeyFile: optionalTextSetting('key of --tls-cert-file', 'FILE'),
  tlsCaFile: optionalTextSetting(
    'authority by which hosts and kubeconfigs know the server: of --tls-cert-file, or of a proxy that ends TLS',
    'FILE',
  ),
  approveNodes: switchSetting(
    'let a new node in only when a person approves it: kubectl certificate approve',
  ),
  secretsKeyFile: optionalTextSetting(
    'keys that Secrets in the database are encrypted under; DATA/pki/secrets.key when absent',
    'FILE',
  ),
  backupSchedule: textSetting('cron pattern by which backups are taken, or off', 'CRON', '43 2 * * *'),
  backupsKept: integerSetting('scheduled backups kept', 'N', { min: 1, max: 10_000, default: 7 }),
  backupDir: optionalTextSetting('directory of scheduled backups instead of DATA/backups', 'DIR'),
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
  ...ACCESS_SETTINGS,
  auditLogPath: textSetting('file of the audit log, or off; DATA/audit/audit.log when absent', 'FILE', ''),
  auditLogMaxSize: integerSetting('MiB after which the audit log begins a new file', 'MIB', {
    min: 1,
    max: 100_000,
    default: 100,
  }),
  auditLogMaxBackup: integerSetting('older files of the audit log that are kept', 'N', {
    min: 0,
    max: 10_000,
    default: 10,
  }),
  requestLog: choiceSetting(
    'API requests that get a log line: none, what changes something or is refused, or all',
    REQUEST_LOGS,
    'changes',
  ),
  requestLogFile: optionalTextSetting('file that these lines are appended to, instead of the log', 'FILE'),
  logLevel: choiceSetting('least severe log line written', ['debug', 'info', 'warn', 'error'], 'info'),
};

/** The settings of `coordinator install`, whose data directory is fixed. */
const { data: _data, ...installSettings } = COORDINATOR_SETTINGS;
export const INSTALL_SETTINGS = installSettings;

export type CoordinatorSettings = SettingsOf<typeof COORDINATOR_SETTINGS>;

/** Returns the grace periods of nodes, ms. */
export function nodeGracePeriodsOf(settings: CoordinatorSettings): {
  nodeMonitorGraceMs: number;
  nodeStartupGraceMs: number;
} {
  return {
    nodeMonitorGraceMs: readDuration(settings.nodeMonitorGracePeriod),
    nodeStartupGraceMs: readDuration(settings.nodeStartupGracePeriod),
  };
}

/** Returns the rates at which NotReady nodes are emptied. */
export function evictionRatesOf(settings: CoordinatorSettings): EvictionRates {
  return { ...settings, nodeMonitorPeriodMs: readDuration(settings.nodeMonitorPeriod) };
}
