/**
 * `everynode why ds/NAME [node/NAME]`: prints why a DaemonSet does or does not run on a node, or counts over the fleet.
 * `everynode why dj/NAME [node/NAME]`: prints what a DaemonJob does on a node and why, or counts by state.
 * `everynode why svc/NAME`: prints the endpoints of a Service, and why a Pod is no endpoint.
 */

import type { Command } from 'commander';
import type { ServiceReasonsDocument } from '../../../shared/kube/fleet/service-explanation-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import type { FleetReasonsDocument, NodeReasonDocument } from '../../api/fleet/why-resource.js';
import { connect } from '../client/api-client.js';
import { DaemonJobClient } from '../client/daemonjob-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { jobHostLine, jobOutcomeLine } from '../terminal/daemonjob-text.js';
import { namesText } from '../terminal/name-list.js';
import { addOutputOption, documentIn, type OutputForm } from '../terminal/output-form.js';
import { serviceLines } from '../terminal/service-lines.js';

const DAEMON_SET_PREFIXES = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps'];
const SERVICE_PREFIXES = ['svc', 'service', 'services'];
const JOB_PREFIXES = ['dj', 'daemonjob', 'daemonjobs'];
const NODE_PREFIXES = ['no', 'node', 'nodes'];

interface WhyOptions extends KubeconfigOptions {
  namespace?: string;
  output: OutputForm;
}

export function whyCommand(program: Command): void {
  const command = program
    .command('why')
    .description(
      'explain why a DaemonSet or DaemonJob does or does not run on a node, or which endpoints a Service has',
    )
    .argument('<ds/NAME, dj/NAME or svc/NAME>', 'the DaemonSet, DaemonJob or Service')
    .argument('[node/NAME]', 'the node, for a DaemonSet or DaemonJob; without it, counts by reason')
    .option('-n, --namespace <NS>', "namespace of the object (default the context's)");
  addKubeconfigOptions(addOutputOption(command)).action(why);
}

async function why(subject: string, node: string | undefined, options: WhyOptions): Promise<void> {
  if (JOB_PREFIXES.includes(subject.split('/')[0] ?? '')) return whyJob(subject, node, options);
  const isService = SERVICE_PREFIXES.includes(subject.split('/')[0] ?? '');
  if (isService && node !== undefined)
    throw new ExitError(EXIT_CODES.usage, 'A node can be given for a DaemonSet, not for a Service.');
  const name = isService
    ? nameIn(subject, SERVICE_PREFIXES, 'svc')
    : nameIn(subject, DAEMON_SET_PREFIXES, 'ds');
  const nodeName = node === undefined ? undefined : nameIn(node, NODE_PREFIXES, 'node');
  const api = connect(options);
  const resource = isService ? 'services' : 'daemonsets';
  const path = whyPath(resource, { namespace: options.namespace ?? api.namespace, name }, nodeName);
  const answer = await api.request<WhyAnswer>('GET', path);
  const document = documentIn(options.output, answer);
  if (document !== undefined) printDocument(document);
  else answerLines(answer).forEach(printLine);
}

async function whyJob(subject: string, node: string | undefined, options: WhyOptions): Promise<void> {
  const name = nameIn(subject, JOB_PREFIXES, 'dj');
  const nodeName = node === undefined ? undefined : nameIn(node, NODE_PREFIXES, 'node');
  const client = new DaemonJobClient(options);
  const job = await client.get(name);
  const answer = await client.hosts(name, nodeName === undefined ? { names: 'true' } : { node: nodeName });
  const document = documentIn(options.output, answer);
  if (document !== undefined) return printDocument(document);
  if (nodeName === undefined) {
    const rows = answer.states.map(({ state, count, nodes = [] }) => [
      state,
      String(count),
      namesText(nodes),
    ]);
    tableLines([['STATE', 'COUNT', 'NODES'], ...rows]).forEach(printLine);
    return printLine(jobOutcomeLine(job));
  }
  const [host] = answer.hosts;
  printLine(host ? jobHostLine(job, host) : `${nodeName} is not part of DaemonJob ${name}.`);
}

/** Returns `web` for `ds/web`. Throws ExitError for another type. */
function nameIn(text: string, prefixes: readonly string[], example: string): string {
  const [prefix = '', name = '', ...rest] = text.split('/');
  if (prefixes.includes(prefix) && name && rest.length === 0) return name;
  throw new ExitError(EXIT_CODES.usage, `"${text}" is not of the form ${example}/NAME.`);
}

function whyPath(
  resource: string,
  ref: { namespace: string; name: string },
  node: string | undefined,
): string {
  const [ns, name] = [ref.namespace, ref.name].map(encodeURIComponent);
  const query = node === undefined ? '' : `?node=${encodeURIComponent(node)}`;
  return `/apis/${FLEET_GROUP}/v1/namespaces/${ns}/${resource}/${name}/why${query}`;
}

type WhyAnswer = NodeReasonDocument | FleetReasonsDocument | ServiceReasonsDocument;

function answerLines(answer: WhyAnswer): string[] {
  if (answer.kind === 'ServiceExplanation') return serviceLines(answer);
  return answer.kind === 'DaemonSetNodeReason' ? nodeLines(answer) : fleetLines(answer);
}

function nodeLines({ code, sentence, rules, rollout, values = [] }: NodeReasonDocument): string[] {
  const results = rules.map(({ rule, passed, detail }) => [passed ? 'passed' : 'FAILED', rule, detail]);
  const state = rollout && `  rollout ${rollout.code}${rollout.wave ? ` in wave ${rollout.wave}` : ''}`;
  return [
    `${code}: ${sentence}`,
    ...tableLines(results).map((line) => `  ${line}`),
    ...(state ? [state] : []),
    ...valueLines(values),
  ];
}

function valueLines(values: NonNullable<NodeReasonDocument['values']>): string[] {
  if (values.length === 0) return [];
  const rows = values.map(({ path, value, from }) => [path, value, from]);
  return tableLines([['VALUE', 'TEXT', 'FROM'], ...rows]).map((line) => `  ${line}`);
}

function fleetLines({ sentence, reasons, versions }: FleetReasonsDocument): string[] {
  if (reasons.length === 0) return [sentence];
  const rows = reasons.map(({ code, count, nodes }) => [code, String(count), namesText(nodes)]);
  return [sentence, ...tableLines([['CODE', 'COUNT', 'NODES'], ...rows]), ...versionLines(versions)];
}

function versionLines(versions: FleetReasonsDocument['versions']): string[] {
  if (versions.length === 0) return [];
  const rows = versions.map(({ images, count, nodes }) => [
    images.join(','),
    String(count),
    namesText(nodes),
  ]);
  return ['', ...tableLines([['IMAGES', 'COUNT', 'NODES'], ...rows])];
}
