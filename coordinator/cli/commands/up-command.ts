/** `everynode up`: runs a coordinator and one agent on this machine in the foreground. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { untilStopSignal } from '../../../shared/process/service/program-lifecycle.js';
import {
  choiceSetting,
  integerSetting,
  optionalTextSetting,
  switchSetting,
  textSetting,
} from '../../../shared/process/settings/setting-values.js';
import { addSettingFlags, type SettingsOf } from '../../../shared/process/settings/settings-schema.js';
import { agentDataDir, kubeconfigPath, pidPath } from '../../coordinator-data-dir.js';
import { COORDINATOR_SETTINGS } from '../../coordinator-settings.js';
import { DATABASE_FILE } from '../../store/data-files.js';
import type { ApiClient } from '../client/api-client.js';
import { CLUSTER_FILE, coordinatorDir, etcdPaths } from '../local-cluster/cluster-layout.js';
import { requireEtcd } from '../local-cluster/etcd-program.js';
import { LocalCluster } from '../local-cluster/local-cluster.js';
import { oneCoordinator } from '../local-cluster/one-coordinator.js';
import { type AgentProcess, runAgentCommand, startAgent } from '../machine/agent-process.js';
import { type FirstStart, trackFirstStart } from '../machine/first-start.js';
import { installEngine } from '../machine/install-engine.js';
import { readSettings } from '../terminal/command-options.js';
import { type Progress, terminalProgress } from '../terminal/terminal-progress.js';
import { createToken } from './token-command.js';

// `up` starts an etcd of its own. For any other etcd there is `everynode coordinator`.
const { etcd: _etcd, etcdCa: _ca, etcdCert: _cert, etcdKey: _key, ...ownSettings } = COORDINATOR_SETTINGS;
const NO_ETCD = { etcd: undefined, etcdCa: undefined, etcdCert: undefined, etcdKey: undefined };

const UP_SETTINGS = {
  ...ownSettings,
  logLevel: choiceSetting('minimum severity of log lines', ['debug', 'info', 'warn', 'error'], 'warn'),
  runtime: choiceSetting('container engine', ['auto', 'docker', 'podman', 'hollow'], 'auto'),
  nodeName: textSetting('name of this machine as a node', 'NAME', hostname().toLowerCase()),
  coordinators: integerSetting(
    "number of coordinators; more than one need Debian's etcd-server, of which this command starts three members",
    'N',
    { min: 1, max: 5, default: 1 },
  ),
  labels: optionalTextSetting('initial labels of the node', 'K=V,…'),
  taints: optionalTextSetting('initial taints of the node', 'K=V:EFFECT,…'),
  installEngine: switchSetting("as root: install Debian's docker.io if there is no container engine"),
  installTools: switchSetting('as root: install the packages needed for compiling'),
};

type UpSettings = SettingsOf<typeof UP_SETTINGS>;

const READY_POLL_MS = 200;
/** After this time the user is told what is missing. */
const READY_NOTICE_MS = 60_000;

export function upCommand(program: Command): void {
  const command = program
    .command('up')
    .description(
      'run a coordinator, or several for trying it out, and one agent on this machine, in the foreground',
    );
  addSettingFlags(command, UP_SETTINGS);
  command.option('--config <FILE>', 'YAML file with settings').action(up);
}

async function up(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(UP_SETTINGS, flags);
  const progress = terminalProgress();
  refuseSingle(settings);
  const stopSignal = untilStopSignal();
  if (settings.coordinators > 1) requireEtcd();
  if (settings.installEngine) await installEngine(progress);
  runAgentCommand(['check', ...nodeFlags(settings)]);

  const firstStart = trackFirstStart(settings.data, [DATABASE_FILE, CLUSTER_FILE]);
  try {
    await serve(settings, { progress, stopSignal, firstStart });
  } finally {
    if (firstStart.undo()) progress.print(`  nothing was kept: ${settings.data} is unchanged`);
  }
}

interface Foreground {
  progress: Progress;
  stopSignal: Promise<unknown>;
  firstStart: FirstStart;
}

/** Throws `ExitError` if the data directory belongs to several coordinators and only one is to be started. */
function refuseSingle({ coordinators, data }: UpSettings): void {
  if (coordinators > 1 || !existsSync(join(data, CLUSTER_FILE))) return;
  const advice = 'pass --coordinators with their number, or choose another place with --data';
  throw new ExitError(EXIT_CODES.usage, `${data} belongs to several coordinators: ${advice}.`);
}

/** Resolves when all programs have stopped after a signal. */
async function serve(settings: UpSettings, foreground: Foreground): Promise<void> {
  const { progress, stopSignal } = foreground;
  const { coordinators: count } = settings;
  const coordinators =
    count > 1
      ? new LocalCluster({ count, settings, progress })
      : oneCoordinator({ ...settings, ...NO_ETCD }, progress);
  let agent: AgentProcess | undefined;
  let isStarted = false;
  try {
    const isStopped = stopSignal.then(() => undefined);
    const api = await Promise.race([coordinators.start(), isStopped]);
    if (!api) return;
    isStarted = true;
    agent = await startFirstAgent(settings, { api, servers: coordinators.servers, progress });
    const failed = agent.ended.then((end) => {
      throw new ExitError(EXIT_CODES.environment, `The agent ended (${end}); see its error above.`);
    });
    failed.catch(() => undefined);
    await Promise.race([failed, stopSignal, announceReady(settings, api, foreground)]);
    await Promise.race([failed, stopSignal]);
  } finally {
    if (isStarted) progress.print('· stopping; containers keep running');
    await agent?.stop();
    await coordinators.stop();
  }
}

async function startFirstAgent(
  settings: UpSettings,
  { api, servers, progress }: { api: ApiClient; servers: readonly string[]; progress: Progress },
): Promise<AgentProcess> {
  // An agent that has joined ignores the token, so `up` can always pass one.
  const token = await createToken(api, { ttlSeconds: 600, description: 'npm run up' });
  const args = ['--server', servers.join(','), '--data', agentDataDir(settings.data)];
  args.push('--log-level', settings.logLevel, ...nodeFlags(settings));
  return progress.step(`starting the agent of node ${settings.nodeName}`, async () =>
    startAgent(args, token.text),
  );
}

function nodeFlags({ runtime, nodeName, labels, taints }: UpSettings): string[] {
  const flags = ['--runtime', runtime, '--node-name', nodeName];
  if (labels) flags.push('--labels', labels);
  if (taints) flags.push('--taints', taints);
  return flags;
}

/**
 * An interrupted first start is undone until the address has been printed. Before that, no user can have stored
 * anything.
 */
async function announceReady(
  settings: UpSettings,
  api: ApiClient,
  { progress, firstStart }: Pick<Foreground, 'progress' | 'firstStart'>,
): Promise<void> {
  let isAnnounced = false;
  const announce = (): void => {
    if (isAnnounced) return;
    isAnnounced = true;
    firstStart.keep();
    progress.print(`  API         ${api.server}`);
    progress.print(`  console     ${api.server}/console/`);
    progress.print(`  kubeconfig  ${kubeconfigPath(settings.data)}`);
  };
  await progress.step('waiting for the node to be Ready', () =>
    untilReady(settings.nodeName, api, (why) => {
      announce();
      progress.print(`  still waiting: ${why}`);
    }),
  );
  announce();
  progress.print(`Node ${settings.nodeName} is Ready. In another terminal:`);
  progress.print(`  export KUBECONFIG=${kubeconfigPath(settings.data)}`);
  progress.print('  kubectl get nodes');
  if (settings.coordinators > 1) announceMembers(settings, progress);
  const all = settings.coordinators > 1 ? 'all' : 'both';
  progress.print(`Ctrl-C stops ${all} programs and leaves the containers running.`);
}

/** What can be tried with several coordinators. */
function announceMembers({ data, coordinators }: UpSettings, progress: Progress): void {
  progress.print('  everynode coordinator members       # who leads, who follows');
  progress.print(
    `  kubectl --context everynode-${coordinators} get nodes   # by another coordinator's address`,
  );
  progress.print(`  kill -9 $(cat ${pidPath(coordinatorDir(data, 1))})`);
  progress.print(`Logs: ${data}/coordinator-*.log, ${etcdPaths(data).root}/*.log`);
}

/** `onLate` is called once with the reason if the node takes long to become ready. */
async function untilReady(nodeName: string, api: ApiClient, onLate: (why: string) => void): Promise<void> {
  const startedAt = performance.now();
  let isLate = false;
  for (;;) {
    const node = await readNode(nodeName, api);
    if (isConditionTrue(node?.status?.conditions, 'Ready')) return;
    if (!isLate && performance.now() - startedAt > READY_NOTICE_MS) {
      isLate = true;
      const ready = node?.status?.conditions?.find((condition) => condition.type === 'Ready');
      onLate(ready?.message ?? 'the agent has not registered its node yet');
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

async function readNode(name: string, api: ApiClient): Promise<Node | undefined> {
  return orUndefined(() => api.request<Node>('GET', `/api/v1/nodes/${name}`));
}
