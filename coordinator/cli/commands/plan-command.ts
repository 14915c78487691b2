/**
 * `everynode plan -f FILE`: prints the effects of applying manifests, in short and host by host. Its exit code is for
 * pipelines.
 */

import type { Command, CommanderError } from 'commander';
import { PLAN_PATH, type Plan, type PlanRequest } from '../../../shared/kube/fleet/plan-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { connect } from '../client/api-client.js';
import { refusalText } from '../client/api-http-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { readManifests } from '../terminal/manifest-reader.js';
import { addOutputOption, documentIn, type OutputForm } from '../terminal/output-form.js';
import { planLines } from '../terminal/plan-text.js';

/** Exit codes by verdict. Any error is 1. */
export const PLAN_EXIT_CODES: Readonly<Record<Plan['verdict'], number>> = {
  NoChange: 0,
  Changes: 2,
  Blocked: 3,
};

/** Keeps the output readable on a terminal. */
const DEFAULT_HOSTS = '20';

interface PlanOptions extends KubeconfigOptions {
  filename: string[];
  recursive: boolean;
  namespace?: string;
  output: OutputForm;
  hosts: string;
}

export function planCommand(program: Command): void {
  const command = program
    .command('plan')
    .description('show the effects of applying manifests, host by host; changes nothing')
    .requiredOption(
      '-f, --filename <FILE>',
      'a file, a directory, or - for standard input; repeatable',
      (name: string, names: string[] = []) => [...names, name],
    )
    .option('-R, --recursive', 'include subdirectories', false)
    .option('-n, --namespace <NS>', "namespace of manifests without one (default the context's)")
    .option('--hosts <N>', 'number of changing hosts to list per DaemonSet, or all', DEFAULT_HOSTS);
  addKubeconfigOptions(addOutputOption(command))
    .addHelpText('after', '\nExit codes: 0 no change, 2 changes, 3 refused or blocked, 1 error.')
    .exitOverride(refuseUsage)
    .action(plan);
}

/** Commander's exit code for a wrong flag is 2, which would mean that something changes. */
function refuseUsage(error: CommanderError): never {
  if (error.exitCode === 0) throw error;
  throw new ExitError(EXIT_CODES.unexpected, `${error.message.replace(/^error: /, '').split('\n')[0]}.`);
}

async function plan(options: PlanOptions): Promise<void> {
  const mostHosts = options.hosts === 'all' ? Number.POSITIVE_INFINITY : Number(options.hosts);
  if (Number.isNaN(mostHosts)) {
    throw new ExitError(EXIT_CODES.unexpected, `--hosts: must be a number or all, not "${options.hosts}".`);
  }
  const manifests = readManifests(options.filename, options.recursive);
  if (manifests.length === 0) {
    throw new ExitError(EXIT_CODES.unexpected, `${options.filename.join(', ')}: no manifest found.`);
  }
  const answer = await ask(options, manifests);
  const document = documentIn(options.output, answer);
  if (document !== undefined) printDocument(document);
  else planLines(answer, mostHosts).forEach(printLine);
  process.exitCode = PLAN_EXIT_CODES[answer.verdict];
}

async function ask(options: PlanOptions, manifests: PlanRequest['manifests']): Promise<Plan> {
  try {
    const api = connect(options);
    const request: PlanRequest = { manifests, namespace: options.namespace ?? api.namespace };
    return await api.request<Plan>('POST', PLAN_PATH, request);
  } catch (error) {
    if (error instanceof ApiError) throw new ExitError(EXIT_CODES.unexpected, refusalText(error));
    if (error instanceof ExitError) throw new ExitError(EXIT_CODES.unexpected, error.sentence);
    throw error;
  }
}
