/** `everynode coordinator members|step-down|remove`: several coordinators of one fleet, through the API. */
import type { Command } from 'commander';
import type { Coordinator, CoordinatorList } from '../../../shared/kube/fleet/coordinator-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import { pause } from '../../../shared/process/time/clock.js';
import { CLUSTER_SETTINGS } from '../../cluster/cluster-settings.js';
import { type ApiClient, connect, isOwnCoordinator } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { coordinatorLines } from '../terminal/coordinator-lines.js';
import { addOutputOption, documentIn, type OutputForm } from '../terminal/output-form.js';
import { terminalProgress } from '../terminal/terminal-progress.js';

const COORDINATORS = `/apis/${FLEET_GROUP}/v1/coordinators`;
const POLL_INTERVAL_MS = 500;
/** A new leader serves within seconds, also with a large fleet. */
const TIMEOUT_MS = 60_000;

export function addMembersCommands(coordinator: Command): void {
  const members = coordinator
    .command('members')
    .description('list the coordinators of the fleet, their etcd, and what is wrong')
    .option('--config <FILE>', 'YAML file with the settings of etcd (default that of the installed service)');
  addSettingFlags(addKubeconfigOptions(addOutputOption(members)), CLUSTER_SETTINGS).action(list);
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

async function list({
  output,
  ...options
}: KubeconfigOptions & Record<string, unknown> & { output: OutputForm }): Promise<void> {
  let outage: string | undefined;
  const found = await connect(options)
    .request<CoordinatorList>('GET', COORDINATORS)
    .catch(async (error: unknown) => {
      ignoreOutage(error);
      const read = await fromEtcd(options);
      if (!read) throw error;
      outage = error instanceof ExitError ? error.sentence : String((error as Error).message);
      return read;
    });
  const document = documentIn(output, found);
  if (document !== undefined) printDocument(document);
  else for (const line of coordinatorLines(found.items, found)) printLine(line);
  if (outage === undefined) return;
  const what = leaderOf(found) ? 'The API could not be reached' : 'No coordinator serves';
  throw new ExitError(
    EXIT_CODES.environment,
    `${what}, so this list is from etcd, as this machine reads it: ${outage}`,
  );
}

/** Without a leader the API cannot answer. Another cluster that the caller names is not looked up on this machine. */
async function fromEtcd(
  options: KubeconfigOptions & Record<string, unknown>,
): Promise<CoordinatorList | undefined> {
  if (options.context !== undefined || !isOwnCoordinator(options)) return undefined;
  const { membersFromEtcd } = await import('../machine/members-from-etcd.js');
  return membersFromEtcd(options);
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
