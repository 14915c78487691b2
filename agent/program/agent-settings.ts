/** Every setting of the agent with default, unit and description. Read once by agent-cli.ts, frozen, and passed on. */
import { homedir, hostname, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Taint } from '../../shared/kube/nodes/node-types.js';
import { readDuration } from '../../shared/kube/objects/go-duration.js';
import { readNoProxy, readProxyUrl } from '../../shared/link/forward-proxy/proxy-settings.js';
import {
  checkedTextSetting,
  choiceSetting,
  environmentSetting,
  integerSetting,
  optionalTextSetting,
  secretTextSetting,
  switchSetting,
  textSetting,
} from '../../shared/process/settings/setting-values.js';
import type { Setting, SettingsOf } from '../../shared/process/settings/settings-schema.js';
import { parseSysctlPatterns } from '../decisions/container-spec/allowed-sysctls.js';
import {
  DEFAULT_EVICTION_HARD,
  parseGracePeriods,
  parseMinimumReclaims,
  parseThresholds,
} from '../decisions/eviction/eviction-thresholds.js';
import { parseLogSize } from '../decisions/pod-logs/log-rotation.js';
import { parseKubeletPort } from '../kubelet/kubelet-port-setting.js';
import { parseMetricsAddress } from '../metrics/agent-metrics-server.js';
import { parseLabels, parseNodeName, parseTaints } from '../node/node-labels-and-taints.js';

/** Prefix of the environment variables: `EVERYNODE_AGENT_SERVER`. */
export const ENVIRONMENT_PREFIX = 'EVERYNODE_AGENT';

/** Returns `/var/lib/everynode-agent` for root, else `~/.local/share/everynode-agent`. */
export function defaultDataDir(): string {
  return userInfo().uid === 0 ? '/var/lib/everynode-agent' : join(homedir(), '.local/share/everynode-agent');
}

const labels: Setting<Record<string, string>> = {
  description: 'labels of the node when it registers',
  placeholder: 'K=V,…',
  default: {},
  read: parseLabels,
};

const taints: Setting<Taint[]> = {
  description: 'taints of the node when it registers',
  placeholder: 'K=V:EFFECT,…',
  default: [],
  read: parseTaints,
};

const allowedUnsafeSysctls: Setting<string[]> = {
  description: 'unsafe sysctls that Pods may set, with `*` as final wildcard',
  placeholder: 'NAME,…',
  default: [],
  read: parseSysctlPatterns,
};

function requireAbsolutePath(path: string): void {
  if (!isAbsolute(path)) throw new Error('must be an absolute path');
}

const THRESHOLDS = 'SIGNAL<VALUE,…';
const PERIODS = 'SIGNAL=DURATION,…';

const nodeName: Setting<string> = {
  description: 'name of this host as a node',
  placeholder: 'NAME',
  default: hostname().toLowerCase(),
  read: parseNodeName,
};

/** The host's identity at registration. */
export const NODE_SETTINGS = { nodeName, labels, taints };

/** Directory of the state; other commands need no more than this and the runtime. */
export const DATA_SETTING = {
  data: textSetting('directory of the identity and the desired state', 'DIR', defaultDataDir()),
};

export const RUNTIME_SETTING = {
  runtime: choiceSetting('container engine', ['auto', 'docker', 'podman', 'hollow'], 'auto'),
};

const SERVER_SETTING = {
  server: optionalTextSetting(
    'the coordinator, https://HOST:PORT; several are comma-separated and tried in turn, and the agent learns the others of the fleet. Through the HTTP proxy in HTTPS_PROXY, except for hosts in NO_PROXY',
    'URL,…',
  ),
};

/** What `doctor` checks. */
export const DOCTOR_SETTINGS = { ...SERVER_SETTING, ...DATA_SETTING, ...RUNTIME_SETTING };

export const AGENT_SETTINGS = {
  ...SERVER_SETTING,
  token: secretTextSetting('EVERYNODE_TOKEN'),
  tokenFile: optionalTextSetting(
    'file with the join token, - for standard input; else EVERYNODE_TOKEN in the environment. Needed until this host has joined',
    'FILE',
  ),
  httpsProxy: environmentSetting(['HTTPS_PROXY', 'https_proxy'], readProxyUrl),
  noProxy: environmentSetting(['NO_PROXY', 'no_proxy'], readNoProxy),
  ...DATA_SETTING,
  ...RUNTIME_SETTING,
  ...NODE_SETTINGS,
  lowData: switchSetting(
    'the link of this host is metered: send heartbeats every two minutes, merge and compress reports',
  ),
  manifests: optionalTextSetting('directory of static pod manifests (default DATA/manifests)', 'DIR'),
  nodeIp: optionalTextSetting('address of this host, if the detected one is wrong', 'ADDRESS'),
  clusterDns: choiceSetting(
    'DNS server for Pods on 169.254.20.53, which resolves names of Services',
    ['on', 'off'],
    'on',
  ),
  updateLock: textSetting(
    'lock file or socket by which this host vetoes updates',
    'PATH',
    '/run/everynode/update-lock',
  ),
  podLogFiles: choiceSetting(
    'log files of Pods in CRI format for log programs: pods/ and containers/ below the directory of --pod-log-directory; needs root',
    ['on', 'off'],
    'on',
  ),
  podLogDirectory: checkedTextSetting(
    'directory of the log files of Pods',
    'DIR',
    '/var/log',
    requireAbsolutePath,
  ),
  containerLogMaxSize: checkedTextSetting(
    'size at which a log file of a container is rotated',
    'SIZE',
    '10Mi',
    parseLogSize,
  ),
  containerLogMaxFiles: integerSetting('log files of a container, with the current one', 'N', {
    min: 2,
    max: 100,
    default: 5,
  }),
  registries: optionalTextSetting(
    "credentials and mirrors of registries: Docker's config.json, with `mirrors` (default DATA/registries.json)",
    'FILE',
  ),
  maxParallelImagePulls: integerSetting('images pulled at once', 'N', { min: 1, max: 100, default: 3 }),
  imageGcHighThreshold: integerSetting(
    'percent of disk usage from which unused images pulled by this agent are removed; 100 = never',
    'PERCENT',
    { min: 0, max: 100, default: 85 },
  ),
  imageGcLowThreshold: integerSetting('percent of disk usage down to which they are removed', 'PERCENT', {
    min: 0,
    max: 100,
    default: 80,
  }),
  evictionHard: checkedTextSetting(
    'thresholds at which Pods are evicted at once; replaces all defaults',
    THRESHOLDS,
    DEFAULT_EVICTION_HARD,
    parseThresholds,
  ),
  evictionSoft: checkedTextSetting(
    'thresholds at which Pods are evicted after a grace period',
    THRESHOLDS,
    '',
    parseThresholds,
  ),
  evictionSoftGracePeriod: checkedTextSetting(
    'how long a soft threshold must be met, such as memory.available=1m30s',
    PERIODS,
    '',
    parseGracePeriods,
  ),
  evictionMinimumReclaim: checkedTextSetting(
    'amount to reclaim beyond the threshold, such as nodefs.available=500Mi',
    'SIGNAL=VALUE,…',
    '',
    parseMinimumReclaims,
  ),
  evictionPressureTransitionPeriod: checkedTextSetting(
    'how long a pressure condition lasts after its cause',
    'DURATION',
    '5m',
    readDuration,
  ),
  evictionMaxPodGracePeriod: integerSetting(
    'longest grace period of a soft eviction in seconds; -1 = the grace period of the Pod',
    'SECONDS',
    {
      min: -1,
      max: 86_400,
      default: 0,
    },
  ),
  allowedUnsafeSysctls,
  policy: optionalTextSetting(
    'file with restrictions for all pods on this host (default /etc/everynode/policy.yaml)',
    'FILE',
  ),
  metricsAddress: checkedTextSetting(
    'address of the metrics and /healthz of this agent: off, HOST:PORT or the path of a Unix socket',
    'ADDRESS',
    'off',
    parseMetricsAddress,
  ),
  kubeletPort: checkedTextSetting(
    "port of the kubelet's pages (HTTPS): auto = 10250 if this agent is root and the port is free, 0 = off",
    'PORT',
    'auto',
    parseKubeletPort,
  ),
  podMaxPids: integerSetting('limit of processes per container; 0 = unlimited', 'N', {
    min: 0,
    max: 4_194_304,
    default: 0,
  }),
  endWithInput: switchSetting('stop when standard input ends: for programs that start this one'),
  logLevel: choiceSetting('lowest severity of log lines', ['debug', 'info', 'warn', 'error'], 'info'),
};

/** Settings of `install`: its data directory is fixed, and systemd stops the service by a signal. */
const { data: _data, endWithInput: _endWithInput, ...installSettings } = AGENT_SETTINGS;
export const INSTALL_SETTINGS = installSettings;

export type AgentSettings = SettingsOf<typeof AGENT_SETTINGS>;
export type RuntimeChoice = AgentSettings['runtime'];
