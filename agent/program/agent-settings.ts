/** Every setting of the agent: default, unit, meaning. Read once by cli.ts, frozen, passed down. */
import { homedir, hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Taint } from '../../shared/kube/nodes/node-types.js';
import { readDuration } from '../../shared/kube/objects/go-duration.js';
import {
  checkedTextSetting,
  choiceSetting,
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
import { parseMetricsAddress } from '../metrics/agent-metrics-server.js';
import { parseLabels, parseNodeName, parseTaints } from '../node/node-labels-and-taints.js';

/** Prefix of the environment variables: `EVERYNODE_AGENT_SERVER`. */
export const ENVIRONMENT_PREFIX = 'EVERYNODE_AGENT';

/** `/var/lib/everynode-agent` for root, else `~/.local/share/everynode-agent`. */
/** Default data directory of an agent. */
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
  description: 'sysctls that Pods may set beside the safe ones, `*` at the end for any rest',
  placeholder: 'NAME,…',
  default: [],
  read: parseSysctlPatterns,
};

const THRESHOLDS = 'SIGNAL<VALUE,…';
const PERIODS = 'SIGNAL=DURATION,…';

const nodeName: Setting<string> = {
  description: 'name of this host as a node',
  placeholder: 'NAME',
  default: hostname().toLowerCase(),
  read: parseNodeName,
};

/** Who this host is when it registers. */
export const NODE_SETTINGS = { nodeName, labels, taints };

/** Where state is kept; the other commands need no more than this or the runtime. */
export const DATA_SETTING = {
  data: textSetting('directory of the identity and of what this host was given', 'DIR', defaultDataDir()),
};

export const RUNTIME_SETTING = {
  runtime: choiceSetting('container engine', ['auto', 'docker', 'podman', 'hollow'], 'auto'),
};

export const AGENT_SETTINGS = {
  server: optionalTextSetting('the coordinator, https://HOST:PORT', 'URL'),
  token: secretTextSetting('EVERYNODE_TOKEN'),
  tokenFile: optionalTextSetting(
    'file with the join token, - for standard input; else EVERYNODE_TOKEN in the environment. Needed until this host has joined',
    'FILE',
  ),
  ...DATA_SETTING,
  ...RUNTIME_SETTING,
  ...NODE_SETTINGS,
  lowData: switchSetting(
    'the link of this host is paid for by the byte: show life every two minutes, tell changes together, compressed',
  ),
  manifests: optionalTextSetting('directory of static pods; DATA/manifests when absent', 'DIR'),
  nodeIp: optionalTextSetting('address of this host, if the one found is not the right one', 'ADDRESS'),
  updateLock: textSetting(
    "file or socket by which this host says 'not now' to a rollout",
    'PATH',
    '/run/everynode/update-lock',
  ),
  registries: optionalTextSetting(
    "credentials and mirrors of registries: Docker's config.json, with `mirrors` (default DATA/registries.json)",
    'FILE',
  ),
  maxParallelImagePulls: integerSetting('images pulled at once', 'N', { min: 1, max: 100, default: 3 }),
  imageGcHighThreshold: integerSetting(
    'percent of the disk in use from which unused images that this agent pulled are removed; 100 = never',
    'PERCENT',
    { min: 0, max: 100, default: 85 },
  ),
  imageGcLowThreshold: integerSetting(
    'percent of the disk in use down to which they are removed',
    'PERCENT',
    {
      min: 0,
      max: 100,
      default: 80,
    },
  ),
  evictionHard: checkedTextSetting(
    'thresholds from which on Pods are evicted at once; what is given takes the place of all defaults',
    THRESHOLDS,
    DEFAULT_EVICTION_HARD,
    parseThresholds,
  ),
  evictionSoft: checkedTextSetting(
    'thresholds from which on Pods are evicted after a grace period',
    THRESHOLDS,
    '',
    parseThresholds,
  ),
  evictionSoftGracePeriod: checkedTextSetting(
    'how long a soft threshold has to be met, such as memory.available=1m30s',
    PERIODS,
    '',
    parseGracePeriods,
  ),
  evictionMinimumReclaim: checkedTextSetting(
    'how much more than its threshold is won back, such as nodefs.available=500Mi',
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
    'the most seconds that a Pod has to end when a soft threshold evicts it; -1 = its own grace period',
    'SECONDS',
    {
      min: -1,
      max: 86_400,
      default: 0,
    },
  ),
  allowedUnsafeSysctls,
  policy: optionalTextSetting(
    'what no pod may do on this host; /etc/everynode/policy.yaml when absent',
    'FILE',
  ),
  metricsAddress: checkedTextSetting(
    'where this agent shows its own metrics and /healthz: off, HOST:PORT or the path of a unix socket',
    'ADDRESS',
    'off',
    parseMetricsAddress,
  ),
  podMaxPids: integerSetting('processes that each container may have; 0 = any number', 'N', {
    min: 0,
    max: 4_194_304,
    default: 0,
  }),
  endWithInput: switchSetting('end when standard input does: for a program that starts this one'),
  logLevel: choiceSetting('least severe log line written', ['debug', 'info', 'warn', 'error'], 'info'),
};

/** What `install` may be given: its data has one place, and systemd ends it by a signal. */
const { data: _data, endWithInput: _endWithInput, ...installSettings } = AGENT_SETTINGS;
export const INSTALL_SETTINGS = installSettings;

export type AgentSettings = SettingsOf<typeof AGENT_SETTINGS>;
export type RuntimeChoice = AgentSettings['runtime'];
