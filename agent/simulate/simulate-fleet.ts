/** `simulate`: a fleet of pretended hosts, seen and steered from one terminal. */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { countText } from '../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printErrorLine } from '../../shared/process/output/terminal-output.js';
import { untilStopSignal } from '../../shared/process/service/program-lifecycle.js';
import { readJoinToken, STANDARD_INPUT } from '../identity/join-token-source.js';
import { FleetSupervisor } from './fleet-supervisor.js';
import { type NodeTemplate, nodesFromDocuments, numberedNodes } from './node-templates.js';
import { ProgressLine } from './progress-line.js';
import { MAX_NODES_A_PROCESS, type SimulateSettings } from './simulate-settings.js';
import { COMMANDS_HELP, parseCommand } from './simulation-command.js';

/** Runs until a signal, or until who started it is gone; then every connection is closed and every process ended. Throws `ExitError`. */
export async function simulate(settings: SimulateSettings): Promise<void> {
  const token = await requireCoordinator(settings);
  const plans = await readPlans(settings);
  const script = settings.script === undefined ? [] : await readScript(settings.script);
  const stopped = Promise.race([untilStopSignal(), untilParentGone()]);
  const hosts = new FleetSupervisor({ ...settings, token }, plans, (text) => progress.print(text));
  const progress = new ProgressLine(process.stderr, () => hosts.counts(), plans.length);
  progress.start();
  try {
    const commands = steer(script, hosts, progress);
    await Promise.race([stopped, hosts.failed, commands.then(() => stopped)]);
  } finally {
    progress.stop();
    await hosts.stop();
  }
  printErrorLine(farewell(settings));
}

/** `everynode simulate` holds the other end of a channel; without one, there is nobody to wait for. */
function untilParentGone(): Promise<unknown> {
  return process.connected ? once(process, 'disconnect') : new Promise(() => undefined);
}

/** The join token. Throws `ExitError`. */
async function requireCoordinator({ server, ...given }: SimulateSettings): Promise<string> {
  if (server === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'The coordinator is not named: give --server https://HOST:PORT.');
  }
  if (given.tokenFile === STANDARD_INPUT) {
    const why = 'commands come from standard input';
    throw new ExitError(
      EXIT_CODES.usage,
      `--token-file: ${why}; give a file, or the token in EVERYNODE_TOKEN.`,
    );
  }
  const token = await readJoinToken(given);
  if (token !== undefined) return token;
  throw new ExitError(
    EXIT_CODES.usage,
    'A join token is needed, by --token-file or in EVERYNODE_TOKEN: everynode token create prints one.',
  );
}

/** Throws `ExitError` for a file that cannot be read and for more nodes than fit. */
async function readPlans({ nodes, name, processes }: SimulateSettings): Promise<NodeTemplate[]> {
  const plans = /^\d+$/.test(nodes) ? numberedNodes(name, Number(nodes)) : await readFileOfNodes(nodes);
  if (plans.length === 0) throw new ExitError(EXIT_CODES.usage, '--nodes: at least one is needed.');
  const needed = Math.ceil(plans.length / MAX_NODES_A_PROCESS);
  if (needed > processes) {
    throw new ExitError(EXIT_CODES.usage, `So many nodes need --processes ${needed} or more.`);
  }
  return plans;
}

async function readFileOfNodes(path: string): Promise<NodeTemplate[]> {
  try {
    const { parseAllDocuments } = await import('yaml');
    const documents = parseAllDocuments(await readFile(path, 'utf8'));
    const broken = documents.find(({ errors }) => errors.length > 0);
    if (broken) throw new Error(broken.errors[0]?.message.split('\n')[0]);
    return nodesFromDocuments(documents.map((document): unknown => document.toJS()));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `--nodes: ${path}: ${why}.`);
  }
}

/** The lines of a script, every one a command that can be read: none is done where a later one is wrong. Throws `ExitError`. */
async function readScript(path: string): Promise<string[]> {
  let line = 0;
  try {
    const lines = (await readFile(path, 'utf8')).split('\n');
    for (line = 1; line <= lines.length; line += 1) parseCommand(lines[line - 1] ?? '');
    return lines;
  } catch (error) {
    const where = line > 0 ? `${path}, line ${line}` : path;
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `--script: ${where}: ${why}`);
  }
}

/** The script to its end, then what is typed. */
async function steer(
  script: readonly string[],
  hosts: FleetSupervisor,
  progress: ProgressLine,
): Promise<void> {
  const say = (text: string) => progress.print(text);
  for (const line of script) await runLine(line, hosts, say);
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      if (line.trim() === 'help') COMMANDS_HELP.split('\n').forEach(say);
      else await runLine(line, hosts, say);
    } catch (error) {
      (error instanceof Error ? error.message : String(error)).split('\n').forEach(say);
    }
  }
}

/** Throws for a line that is no command. */
async function runLine(line: string, hosts: FleetSupervisor, say: (text: string) => void): Promise<void> {
  const command = parseCommand(line);
  if (!command) return;
  if (command.kind === 'wait') {
    // In a script, time counts from when all are there.
    while (!hosts.isStarted) await pause(100);
    await pause(command.ms);
    return;
  }
  const nodes = await hosts.command(line);
  say(`${line.trim()}: ${countText(nodes, 'node')}`);
}

/** What is left is in the coordinator's hands: Nodes are deleted by those who may. */
function farewell({ nodes, name }: SimulateSettings): string {
  const which = /^\d+$/.test(nodes) ? `nodes -l simulate.everynode.dev/fleet=${name}` : `-f ${nodes}`;
  return `All agents have left. The same command brings the same nodes back; kubectl delete ${which} removes them.`;
}
