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
export const MAX_NODES_A_PROCESS = 19_000;

const speed: Setting<number> = {
  description: 'how many times faster than they say pods pretend; links and coordinator keep real time',
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
  tokenFile: optionalTextSetting('file with the join token; else EVERYNODE_TOKEN in the environment', 'FILE'),
  nodes: textSetting('how many nodes, or a file of v1 Nodes (kubectl get nodes -o yaml)', 'N|FILE', '10'),
  name: textSetting('numbered nodes are called NAME-1, NAME-2 …', 'NAME', 'node'),
  speed,
  certificates: switchSetting(
    'each host shows its client certificate in TLS, as real ones do; without, hosts share TLS and prove their keys inside it',
  ),
  script: optionalTextSetting('commands to run, one a line; stdin takes them too (help lists them)', 'FILE'),
  processes: integerSetting('spread the nodes over so many processes', 'N', { min: 1, max: 64, default: 1 }),
  logLevel: choiceSetting(
    'least severe log line of agents written',
    ['debug', 'info', 'warn', 'error'],
    'error',
  ),
};

export type SimulateSettings = SettingsOf<typeof SIMULATE_SETTINGS>;
