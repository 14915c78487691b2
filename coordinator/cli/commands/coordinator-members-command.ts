/** `everynode coordinator members|step-down|remove`: several coordinators of one fleet, through the API. */
import type { Command } from 'commander';
import type { Coordinator, CoordinatorList } from '../../../shared/kube/fleet/coordinator-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { pause } from '../../../shared/process/time/clock.js';
import { type ApiClient, connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { coordinatorLines } from '../terminal/coordinator-lines.js';
import { terminalProgress } from '../terminal/terminal-progress.js';

const COORDINATORS = `/apis/${FLEET_GROUP}/v1/coordinators`;
const POLL_INTERVAL_MS = 500;
/** A new leader serves within seconds, also with a large fleet. */
const TIMEOUT_MS = 60_000;

export function addMembersCommands(coordinator: Command): void {
  const members = coordinator
    .command('members')
    .description('list the coordinators of the fleet, their etcd, and what is wrong')
    .option('-o, --output <FORM>', 'text or json', 'text');
  addKubeconfigOptions(members).action(list);
  const stepDown = coordinator
    .command('step-down')
    .description('let another coordinator lead, before maintenance of the leader');
  addKubeconfigOptions(stepDown).action(handOver);
  const removeCommand = coordinator
    .command('remove')
    .argument('<NAME>', 'name or id in "everynode coordinator members"')
    .description('remove a coordinator that is gone or must not lead any more');
  addKubeconfigOptions(removeCommand).action(remove);
}

async function list({ output, ...options }: KubeconfigOptions & { output: string }): Promise<void> {
  if (output !== 'text' && output !== 'json') {
    throw new ExitError(EXIT_CODES.usage, `--output: must be text or json, not "${output}".`);
  }
  const found = await connect(options).request<CoordinatorList>('GET', COORDINATORS);
  if (output === 'json') printLine(JSON.stringify(found, null, 2));
  else for (const line of coordinatorLines(found.items)) printLine(line);
}

async function handOver(options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  const before = leaderOf(await api.request<CoordinatorList>('GET', COORDINATORS));
  if (!before)
    throw new ExitError(EXIT_CODES.environment, 'No coordinator leads now: try again in a few seconds.');
  const { step } = terminalProgress();
  const after = await step(`${before.metadata.name} steps down`, async () => {
    await api.request('POST', `${COORDINATORS}/${before.metadata.name}/stepdown`);
    return newLeader(api, before.metadata.name);
  });
  printLine(`${after.metadata.name} leads at ${after.spec.server}.`);
}

/** Resolves when another coordinator serves. Connections break meanwhile. */
async function newLeader(api: ApiClient, before: string): Promise<Coordinator> {
  const end = performance.now() + TIMEOUT_MS;
  while (performance.now() < end) {
    await pause(POLL_INTERVAL_MS);
    const found = await api.request<CoordinatorList>('GET', COORDINATORS).catch(ignoreOutage);
    const leader = found && leaderOf(found);
    if (leader && leader.metadata.name !== before) return leader;
  }
  throw new ExitError(
    EXIT_CODES.unfinished,
    'No other coordinator leads after 60 s: see "everynode coordinator members" and the logs of the coordinators.',
  );
}

function ignoreOutage(error: unknown): undefined {
  const isOutage = error instanceof ExitError || (error instanceof ApiError && error.code >= 500);
  if (!isOutage) throw error;
  return undefined;
}

function leaderOf({ items }: CoordinatorList): Coordinator | undefined {
  return items.find(({ status }) => status.role === 'Leader');
}

async function remove(name: string, options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  const path = `${COORDINATORS}/${encodeURIComponent(name)}`;
  const { metadata, spec } = await api.request<Coordinator>('DELETE', path);
  printLine(`coordinator ${metadata.name} (${spec.server}) removed`);
  printLine(
    'Its disk still has the keys of the fleet. On that machine run "everynode coordinator uninstall --purge", or delete its data directory.',
  );
  printLine('If you cannot, because the machine is in other hands, see "A lost coordinator" in SECURITY.md.');
}
