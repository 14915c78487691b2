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
import { CLUSTER_SETTINGS } from './cluster/cluster-settings.js';
import { readLinkThreads } from './decisions/nodes/link-thread-count.js';
import { DEFAULT_EVICTION_RATES, type EvictionRates } from './decisions/nodes/zone-health.js';
import {
  DEFAULT_NODE_PORT_RANGE,
  DEFAULT_SERVICE_CIDR,
  readPortRange,
  readServiceCidr,
} from './registry/allocation/number-range.js';

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
  advertise: optionalTextSetting('host name or address of the coordinator for agents and kubectl', 'HOST'),
  ...CLUSTER_SETTINGS,
  serviceCidr: checkedTextSetting(
    'IPv4 range of the addresses of Services, or off for headless Services; must not be in use in your network',
    'CIDR',
    DEFAULT_SERVICE_CIDR,
    readServiceCidr,
  ),
  serviceNodePortRange: checkedTextSetting(
    'ports of hosts for Services of type NodePort and for relays',
    'FIRST-LAST',
    DEFAULT_NODE_PORT_RANGE,
    readPortRange,
  ),
  nodeMonitorGracePeriod: checkedTextSetting(
    'time without contact after which a node is NotReady (can be set per node); also the duration of its Lease',
    'DURATION',
    '40s',
    (text) => readDuration(text, 1_000),
  ),
  nodeStartupGracePeriod: checkedTextSetting(
    'time after the start in which nodes may reconnect before they become NotReady',
    'DURATION',
    '75s',
    readDuration,
  ),
  nodeMonitorPeriod: checkedTextSetting(
    'time for which a NotReady node and its zone are observed before its Pods may be evicted',
    'DURATION',
    '5s',
    readDuration,
  ),
  nodeEvictionRate: numberSetting(
    'rate at which NotReady nodes are emptied, in nodes per second and zone',
    'RATE',
    {
      min: 0,
      max: 1_000,
      default: DEFAULT_EVICTION_RATES.nodeEvictionRate,
    },
  ),
  secondaryNodeEvictionRate: numberSetting(
    'the same for a large zone that is partly down; in a small zone no Pods are evicted then',
    'RATE',
    { min: 0, max: 1_000, default: DEFAULT_EVICTION_RATES.secondaryNodeEvictionRate },
  ),
  unhealthyZoneThreshold: numberSetting(
    'share of NotReady nodes above which a zone is partly down',
    'SHARE',
    {
      min: 0,
      max: 1,
      default: DEFAULT_EVICTION_RATES.unhealthyZoneThreshold,
    },
  ),
  largeClusterSizeThreshold: integerSetting('number of nodes above which a zone is large', 'N', {
    min: 0,
    max: 1_000_000,
    default: DEFAULT_EVICTION_RATES.largeClusterSizeThreshold,
  }),
  tlsCertFile: optionalTextSetting(
    'serving certificate instead of a generated one, followed by its chain',
    'FILE',
  ),
  tlsPrivateKeyFile: optionalTextSetting('key of --tls-cert-file', 'FILE'),
  tlsCaFile: optionalTextSetting(
    'authority that hosts and kubeconfigs trust: of --tls-cert-file, or of a proxy that terminates TLS',
    'FILE',
  ),
  approveNodes: switchSetting('admit a new node only after approval with kubectl certificate approve'),
  secretsKeyFile: optionalTextSetting(
    'encryption keys for Secrets in the database (default DATA/pki/secrets.key)',
    'FILE',
  ),
  backupSchedule: textSetting('cron pattern of backups, or off', 'CRON', '43 2 * * *'),
  backupsKept: integerSetting('number of scheduled backups to keep', 'N', {
    min: 1,
    max: 10_000,
    default: 7,
  }),
  backupDir: optionalTextSetting('directory of scheduled backups (default DATA/backups)', 'DIR'),
  notificationFile: optionalTextSetting(
    'YAML file with webhooks that receive a message about failed rollouts and offline sites (see docs/notifications.md)',
    'FILE',
  ),
  linkThreads: checkedTextSetting(
    'threads that terminate the links of agents, 0 for none; auto: on Linux half of the cores, at most 4, and none below 4 cores or with fewer than 1,000 hosts at the start',
    'N',
    '0',
    readLinkThreads,
  ),
  clientRequestsPerSecond: integerSetting(
    'requests per second of one user and network before 429 Too Many Requests; 0 = unlimited',
    'N',
    { min: 0, max: 1_000_000, default: DEFAULT_CLIENT_LIMITS.requestsPerSecond },
  ),
  clientBurst: integerSetting('requests that such a client may send at once after a pause', 'N', {
    min: 1,
    max: 1_000_000,
    default: DEFAULT_CLIENT_LIMITS.burst,
  }),
  ...ACCESS_SETTINGS,
  auditLogPath: textSetting('file of the audit log, or off (default DATA/audit/audit.log)', 'FILE', ''),
  auditLogMaxSize: integerSetting('size of the audit log in MiB above which a new file is started', 'MIB', {
    min: 1,
    max: 100_000,
    default: 100,
  }),
  auditLogMaxBackup: integerSetting('number of older audit log files to keep', 'N', {
    min: 0,
    max: 10_000,
    default: 10,
  }),
  requestLog: choiceSetting(
    'API requests to log: none, changes and refused requests, or all',
    REQUEST_LOGS,
    'changes',
  ),
  requestLogFile: optionalTextSetting('file for the request log (default the log)', 'FILE'),
  logLevel: choiceSetting('minimum severity of log lines', ['debug', 'info', 'warn', 'error'], 'info'),
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

export function evictionRatesOf(settings: CoordinatorSettings): EvictionRates {
  return { ...settings, nodeMonitorPeriodMs: readDuration(settings.nodeMonitorPeriod) };
}
