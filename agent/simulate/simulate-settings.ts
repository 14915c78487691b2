/** Settings of `simulate`. */
import {
  choiceSetting,
  integerSetting,
  optionalTextSetting,
  switchSetting,
  textSetting,
} from '../../shared/process/settings/setting-values.js';
import type { Setting, SettingsOf } from '../../shared/process/settings/settings-schema.js';
import { AGENT_SETTINGS } from '../program/agent-settings.js';

/** Limit per process, with a margin below the usual limit of open files. */
export const MAX_NODES_PER_WORKER = 19_000;

const speed: Setting<number> = {
  description:
    "divide the durations in the pods' annotations by this factor; links and coordinator keep real time",
  placeholder: 'FACTOR',
  default: 1,
  read: (text) => {
    const value = Number(text);
    if (!(value > 0)) throw new Error('must be a number above 0');
    return value;
  },
};

export const SIMULATE_SETTINGS = {
  server: AGENT_SETTINGS.server,
  token: AGENT_SETTINGS.token,
  tokenFile: optionalTextSetting(
    'file with the join token; default: EVERYNODE_TOKEN in the environment',
    'FILE',
  ),
  nodes: textSetting('number of nodes, or a file of v1 Nodes (kubectl get nodes -o yaml)', 'N|FILE', '10'),
  name: textSetting("prefix of the nodes' names: NAME-1, NAME-2 …", 'NAME', 'node'),
  speed,
  certificates: switchSetting(
    'hosts present client certificates in TLS, as real ones do; default: they share TLS sessions and prove their keys inside the link',
  ),
  script: optionalTextSetting('file of commands to run, one a line; type help for a list', 'FILE'),
  processes: integerSetting('number of worker processes', 'N', { min: 1, max: 64, default: 1 }),
  logLevel: choiceSetting(
    "minimum level of the agents' log lines",
    ['debug', 'info', 'warn', 'error'],
    'error',
  ),
};

export type SimulateSettings = SettingsOf<typeof SIMULATE_SETTINGS>;
