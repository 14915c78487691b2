/** `everynode rollout …`: prints the status and the history of a DaemonSet's rollouts, and controls them. */

import type { Command } from 'commander';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { ALL_TARGETS, type SteeringVerb } from '../../../shared/kube/rollouts/steering-requests.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import type { RolloutHostsDocument } from '../../api/fleet/rollout-subresources.js';
import { isOver } from '../../decisions/rollouts/rollout-outcome.js';
import { addKubeconfigOptions } from '../client/kubeconfig-choice.js';
import { RolloutClient, type RolloutOptions } from '../client/rollout-client.js';
import { durationSeconds } from '../terminal/command-options.js';
import { addOutputOption, documentsIn, type OutputForm } from '../terminal/output-form.js';
import { detailLines, historyLines, progressLine } from '../terminal/rollout-text.js';

const POLL_MS = 1_000;

/** Each verb with its further arguments and its help text. */
const VERBS: Readonly<Record<SteeringVerb, { names: 'wave' | 'node' | undefined; what: string }>> = {
  approve: { names: 'wave', what: 'open a wave, also of dj/NAME' },
  promote: { names: 'wave', what: 'end the observation time of an open wave, also of dj/NAME' },
  pause: { names: undefined, what: 'stop replacing Pods; new hosts still get Pods' },
  freeze: { names: undefined, what: 'touch nothing' },
  resume: { names: undefined, what: 'end a pause or freeze' },
  abort: { names: undefined, what: 'reject the revision: hosts that have it roll back (needs --reason)' },
  retry: { names: undefined, what: 'try a rejected revision again (needs --reason)' },
  skip: { names: 'node', what: 'exclude hosts from this rollout' },
  unskip: { names: 'node', what: 'include skipped hosts again' },
  'override-windows': { names: 'node', what: 'ignore update windows and freezes on hosts (needs --reason)' },
  'override-locks': {
    names: 'node',
    what: 'update hosts, or start dj/NAME on them, although they hold a local update lock (needs --reason)',
  },
};

interface StatusOptions extends RolloutOptions {
  watch: boolean;
  timeout?: string;
}

interface HostsOptions extends RolloutOptions {
  code?: string;
  wave?: string;
  output: OutputForm;
}

export function rolloutCommand(program: Command): void {
  const rollout = program
    .command('rollout')
    .description('show and control rollouts of DaemonSets with a RolloutPolicy');
  common(rollout, 'status', 'follow a rollout until it ends; the exit code is its outcome')
    .option('--no-watch', 'print the status once')
    .option('--timeout <DURATION>', 'maximum time to wait: 90s, 30m, 2h (default unlimited)')
    .addHelpText('after', '\nExit codes: 0 complete, 6 failed or rolled back, 7 not finished in time.')
    .action(status);
  common(
    rollout,
    'history',
    'list past rollouts and the current one: outcome, duration, hosts, failures',
  ).action(history);
  const hostsCommand = common(rollout, 'hosts', 'list hosts with their reason codes')
    .option('--code <CODE>', 'only these codes (comma-separated)')
    .option('--wave <WAVE>', 'only this wave');
  addOutputOption(hostsCommand).action(hosts);
  for (const [verb, { names, what }] of Object.entries(VERBS) as [
    SteeringVerb,
    (typeof VERBS)[SteeringVerb],
  ][]) {
    const command = common(rollout, verb, what).option('--reason <TEXT>', 'recorded with your user name');
    if (names) command.argument(`<${names}...>`, `names of ${names}s, or ${ALL_TARGETS} for all`);
    command.action((target: string, ...rest: unknown[]) =>
      names
        ? steer(verb, target, (rest[0] as string[]).join(','), rest[1] as SteerOptions)
        : steer(verb, target, '', rest[0] as SteerOptions),
    );
  }
}

interface SteerOptions extends RolloutOptions {
  reason?: string;
}

function common(parent: Command, name: string, what: string): Command {
  const command = parent
    .command(name)
    .description(what)
    .argument('<ds/NAME>', 'the DaemonSet')
    .option('-n, --namespace <NS>', "namespace of the DaemonSet (default the context's)");
  return addKubeconfigOptions(command);
}

async function steer(
  verb: SteeringVerb,
  target: string,
  names: string,
  options: SteerOptions,
): Promise<void> {
  const client = new RolloutClient(target, options);
  await client.steer(verb, names, options.reason);
  const subject = `${client.isJob ? 'daemonjob' : 'rollout'} ${client.name}`;
  printLine(`requested: ${verb}${names ? ` ${names}` : ''} for ${subject}`);
}

async function history(target: string, options: RolloutOptions): Promise<void> {
  const client = new RolloutClient(target, options);
  const past = await client.past();
  const { rollout } = await client.present();
  for (const line of historyLines([...past, ...(rollout ? [rollout] : [])])) printLine(line);
}

async function hosts(target: string, { code, wave, output, ...options }: HostsOptions): Promise<void> {
  const client = new RolloutClient(target, options);
  const query = { ...(code ? { code } : {}), ...(wave ? { wave } : {}) };
  for await (const page of client.hosts(query)) {
    const document = documentsIn(output, page.hosts);
    if (document !== undefined) printDocument(document);
    else tableLines(page.hosts.map(hostCells)).forEach(printLine);
  }
}

function hostCells({ node, code, wave, sentence }: RolloutHostsDocument['hosts'][number]): string[] {
  return [node, code, wave || '-', sentence];
}

/** Throws ExitError with the exit code of the outcome, unless the rollout is complete. */
async function status(target: string, options: StatusOptions): Promise<void> {
  const client = new RolloutClient(target, options);
  const seconds = options.timeout === undefined ? Number.POSITIVE_INFINITY : durationSeconds(options.timeout);
  const deadline = performance.now() + seconds * 1000;
  let printed = '';
  for (;;) {
    const { daemonSet, rollout } = await client.present();
    const current = currentStatus(daemonSet, rollout);
    const line = current ? progressLine(current, Date.now()) : waitingText(daemonSet, rollout);
    // The remaining time alone changes with every poll.
    const stableLine = line.replace(/; (about \S+ left|\S+ later than estimated)$/, '');
    if (stableLine !== printed) printLine(line);
    printed = stableLine;
    if (current && (isOver(current) || !options.watch)) return conclude(current);
    if (!options.watch || performance.now() > deadline) {
      throw new ExitError(EXIT_CODES.unfinished, 'The rollout has not finished.');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Returns undefined until the controller has reconciled the newest template. */
function currentStatus(
  { metadata, status }: DaemonSet,
  rollout: Rollout | undefined,
): RolloutStatus | undefined {
  return status?.observedGeneration === metadata.generation ? rollout?.status : undefined;
}

function waitingText({ metadata }: DaemonSet, rollout: Rollout | undefined): string {
  return rollout?.status
    ? `waiting for the controller to reconcile ${metadata.name}`
    : `no RolloutPolicy governs ${metadata.name} yet; use kubectl rollout status ds/${metadata.name}`;
}

function conclude(status: RolloutStatus): void {
  for (const line of detailLines(status)) printLine(line);
  if (status.phase === 'Completed') return;
  throw isOver(status)
    ? new ExitError(EXIT_CODES.failed, '')
    : new ExitError(EXIT_CODES.unfinished, 'The rollout has not finished.');
}
