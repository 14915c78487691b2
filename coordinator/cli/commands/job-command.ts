/** `everynode job …`: runs a command once on each host, and prints what the hosts did. */
import type { Command } from 'commander';
import {
  type DaemonJob,
  type DaemonJobSpec,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { DaemonJobClient, type DaemonJobOptions } from '../client/daemonjob-client.js';
import { addKubeconfigOptions } from '../client/kubeconfig-choice.js';
import { durationSeconds } from '../terminal/command-options.js';
import { jobOutcomeLine, jobProgressLine, resultTable, waitingLines } from '../terminal/daemonjob-text.js';
import { addOutputOption, documentsIn, type OutputForm } from '../terminal/output-form.js';

const POLL_MS = 1_000;

interface WaitOptions extends DaemonJobOptions {
  wait: boolean;
  timeout?: string;
}

interface RunOptions extends WaitOptions {
  selector?: string;
  all?: boolean;
  name?: string;
  parallelism?: string;
  maxFailed?: string;
  retries: string;
  atMostOnce?: boolean;
  deadline: string;
  ttl: string;
}

interface ResultsOptions extends DaemonJobOptions {
  failed?: boolean;
  output: OutputForm;
}

interface RerunOptions extends WaitOptions {
  until?: string;
}

export function jobCommand(program: Command): void {
  const job = program.command('job').description('run a command once on each host');
  waiting(common(job.command('run'), 'create a DaemonJob, wait for it and print a table of its results'))
    .argument('<image>', 'image of the container; write -- before it')
    .argument('[command...]', 'command in the container (default the one of the image)')
    .option('-l, --selector <LABELS>', 'hosts by label: site=kiel,arch=arm64')
    .option('--all', 'all hosts')
    .option('--name <NAME>', 'name of the DaemonJob (default run- and a random text)')
    .option('--parallelism <N>', 'hosts at once: a number or a percentage (default all)')
    .option('--max-failed <N>', 'hosts that may fail before no further host starts: a number or a percentage')
    .option('--retries <N>', 'how often a host that failed tries again', '0')
    .option('--at-most-once', 'never start the command again, also not after a power cut')
    .option('--deadline <DURATION>', 'end the job after this time; other hosts are missed', '1h')
    .option('--ttl <DURATION>', 'delete the job and its results this long after its end', '7d')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(run);
  const resultsCommand = common(job.command('results'), 'print the result of each host')
    .argument('<NAME>', 'the DaemonJob')
    .option('--failed', 'only hosts that failed or were missed');
  addOutputOption(resultsCommand, { hasWide: true }).action(results);
  waiting(common(job.command('rerun'), 'run a finished job again on hosts that failed or were missed'))
    .argument('<NAME>', 'the DaemonJob')
    .option('--until <DURATION>', 'how long hosts may start: 30m, 2h')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(rerun);
}

const EXIT_CODE_HELP =
  '\nExit codes: 0 all hosts succeeded, 6 hosts failed or were missed, 7 not finished in time.';

function common(command: Command, what: string): Command {
  command
    .description(what)
    .option('-n, --namespace <NS>', "namespace of the DaemonJob (default the context's)");
  return addKubeconfigOptions(command);
}

function waiting(command: Command): Command {
  return command
    .option('--no-wait', 'return when the job is created')
    .option('--timeout <DURATION>', 'maximum time to wait: 90s, 30m, 2h (default unlimited)');
}

async function run(image: string, command: string[], options: RunOptions): Promise<void> {
  const client = new DaemonJobClient(options);
  const metadata = options.name === undefined ? { generateName: 'run-' } : { name: options.name };
  const job = await client.create(metadata, jobSpec(image, command, options));
  printLine(`created daemonjob ${job.metadata.name}`);
  await follow(client, job.metadata.name, options);
}

/** Returns the spec of the job. Throws ExitError. */
export function jobSpec(image: string, command: readonly string[], options: RunOptions): DaemonJobSpec {
  const { parallelism, maxFailed, retries, atMostOnce } = options;
  const backoffLimit = Number(retries);
  if (!/^\d+$/.test(retries))
    throw new ExitError(EXIT_CODES.usage, `--retries: must be a number of at least 0, not "${retries}".`);
  const container = { name: 'job', image, ...(command.length > 0 && { command: [...command] }) };
  return {
    template: { spec: { ...nodeSelectorOf(options), containers: [container] } },
    backoffLimit,
    retry: atMostOnce ? 'AtMostOnce' : 'AtLeastOnce',
    activeDeadlineSeconds: durationSeconds(options.deadline, '--deadline'),
    ttlSecondsAfterFinished: durationSeconds(options.ttl, '--ttl'),
    ...(parallelism !== undefined && { parallelism: amountOf(parallelism) }),
    ...(maxFailed !== undefined && { maxFailed: amountOf(maxFailed) }),
  };
}

/** The API refuses an invalid text with the name of the field. */
function amountOf(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function nodeSelectorOf({ selector, all }: RunOptions): { nodeSelector?: Record<string, string> } {
  if (selector === undefined && !all)
    throw new ExitError(EXIT_CODES.usage, 'No hosts selected: pass --selector or --all.');
  if (selector === undefined) return {};
  if (all) throw new ExitError(EXIT_CODES.usage, 'Pass either --selector or --all.');
  const pairs = selector.split(',').map((text) => {
    const [key, value, ...more] = text.split(/==?/);
    if (!key || value === undefined || more.length > 0)
      throw new ExitError(
        EXIT_CODES.usage,
        `--selector: must be labels such as site=kiel,arch=arm64, not "${selector}".`,
      );
    return [key.trim(), value.trim()];
  });
  return { nodeSelector: Object.fromEntries(pairs) };
}

async function results(name: string, { failed, output, ...options }: ResultsOptions): Promise<void> {
  const client = new DaemonJobClient(options);
  const job = await client.get(name);
  const all = await client.results(job);
  const shown = failed ? all.filter(({ phase }) => phase === 'Failed' || phase === 'Missed') : all;
  const document = documentsIn(
    output,
    shown.map(({ nodeName, metadata: _, ...result }) => ({ nodeName, ...result })),
  );
  if (document !== undefined) return printDocument(document);
  for (const line of resultTable(shown, { isWide: output === 'wide' })) printLine(line);
  const waiting = failed || daemonJobFinishedAs(job) ? [] : await client.waitingHosts(name);
  for (const line of waitingLines(waiting)) printLine(line);
  printLine(jobOutcomeLine(job));
}

async function rerun(name: string, options: RerunOptions): Promise<void> {
  const client = new DaemonJobClient(options);
  const { until } = options;
  const at =
    until === undefined ? undefined : toTimestamp(Date.now() + durationSeconds(until, '--until') * 1000);
  const { spec } = await client.rerun(name, at);
  printLine(`started run ${spec.run} of daemonjob ${name}`);
  await follow(client, name, options);
}

/** Prints the progress until the job has finished, then its results. Throws ExitError unless all hosts succeeded. */
async function follow(client: DaemonJobClient, name: string, { wait, timeout }: WaitOptions): Promise<void> {
  if (!wait) return;
  const seconds = timeout === undefined ? Number.POSITIVE_INFINITY : durationSeconds(timeout, '--timeout');
  const deadline = performance.now() + seconds * 1000;
  let printed = '';
  for (;;) {
    const job = await client.get(name);
    if (isCurrent(job)) {
      if (daemonJobFinishedAs(job)) return conclude(client, job);
      const line = jobProgressLine(job);
      if (line !== printed) printLine(line);
      printed = line;
    }
    if (performance.now() > deadline)
      throw new ExitError(
        EXIT_CODES.unfinished,
        `The job has not finished. It continues: everynode job results ${name}`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function isCurrent({ status, metadata }: DaemonJob): boolean {
  return status?.observedGeneration === metadata.generation;
}

async function conclude(client: DaemonJobClient, job: DaemonJob): Promise<void> {
  for (const line of resultTable(await client.results(job))) printLine(line);
  printLine(jobOutcomeLine(job));
  if (daemonJobFinishedAs(job) === 'Failed') throw new ExitError(EXIT_CODES.failed, '');
}
