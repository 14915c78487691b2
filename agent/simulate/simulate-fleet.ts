/** `simulate`: runs a fleet of simulated hosts, and steers it from the terminal. */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { countText } from '../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printErrorLine } from '../../shared/process/output/terminal-output.js';
import { untilStopSignal } from '../../shared/process/service/program-lifecycle.js';
import { readJoinToken, STANDARD_INPUT } from '../../shared/process/settings/join-token-source.js';
import { FleetSupervisor } from './fleet-supervisor.js';
import { type NodeTemplate, nodesFromDocuments, numberedNodes } from './node-templates.js';
import { ProgressLine } from './progress-line.js';
import { MAX_NODES_PER_WORKER, type SimulateSettings } from './simulate-settings.js';
import { COMMANDS_HELP, parseCommand } from './simulation-command.js';

/** Runs until a signal or the parent's exit. Then ends every worker. Throws `ExitError`. */
export async function simulate(settings: SimulateSettings): Promise<void> {
  const token = await requireCoordinator(settings);
  const templates = await readTemplates(settings);
  const script = settings.script === undefined ? [] : await readScript(settings.script);
  const stopped = Promise.race([untilStopSignal(), untilParentGone()]);
  const hosts = new FleetSupervisor({ ...settings, token }, templates, (text) => progress.print(text));
  const progress = new ProgressLine(process.stderr, () => hosts.counts(), templates.length);
  progress.start();
  try {
    const commands = steer(script, hosts, progress);
    await Promise.race([stopped, hosts.failed, commands.then(() => stopped)]);
  } finally {
    progress.stop();
    await hosts.stop();
  }
  printErrorLine(deletionHint(settings));
}

/** `everynode simulate` keeps an IPC channel open. Without one there is no parent to wait for. */
function untilParentGone(): Promise<unknown> {
  return process.connected ? once(process, 'disconnect') : new Promise(() => undefined);
}

/** Returns the join token. Throws `ExitError`. */
async function requireCoordinator({ server, ...given }: SimulateSettings): Promise<string> {
  if (server === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'No coordinator given: pass --server https://HOST:PORT.');
  }
  if (given.tokenFile === STANDARD_INPUT) {
    const why = 'standard input is used for commands';
    throw new ExitError(EXIT_CODES.usage, `--token-file: ${why}; name a file, or set EVERYNODE_TOKEN.`);
  }
  const token = await readJoinToken(given);
  if (token !== undefined) return token;
  throw new ExitError(
    EXIT_CODES.usage,
    'No join token given: pass --token-file or set EVERYNODE_TOKEN. To create one: everynode token create',
  );
}

/** Throws `ExitError` for a file that cannot be read, and for more nodes than the workers can hold. */
async function readTemplates({ nodes, name, processes }: SimulateSettings): Promise<NodeTemplate[]> {
  const templates = /^\d+$/.test(nodes) ? numberedNodes(name, Number(nodes)) : await readFileOfNodes(nodes);
  if (templates.length === 0) throw new ExitError(EXIT_CODES.usage, '--nodes: must be at least 1.');
  const needed = Math.ceil(templates.length / MAX_NODES_PER_WORKER);
  if (needed > processes) {
    throw new ExitError(EXIT_CODES.usage, `This number of nodes needs --processes ${needed} or more.`);
  }
  return templates;
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

/** Returns the lines of a script. Throws `ExitError` for an invalid line, before any command runs. */
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

/** Runs the script, then commands from the terminal. */
async function steer(
  script: readonly string[],
  hosts: FleetSupervisor,
  progress: ProgressLine,
): Promise<void> {
  const print = (text: string) => progress.print(text);
  for (const line of script) await runLine(line, hosts, print);
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      if (line.trim() === 'help') COMMANDS_HELP.split('\n').forEach(print);
      else await runLine(line, hosts, print);
    } catch (error) {
      (error instanceof Error ? error.message : String(error)).split('\n').forEach(print);
    }
  }
}

/** Throws for an invalid command. */
async function runLine(line: string, hosts: FleetSupervisor, print: (text: string) => void): Promise<void> {
  const command = parseCommand(line);
  if (!command) return;
  if (command.kind === 'wait') {
    // In a script, `wait` starts when all hosts are connected.
    while (!hosts.isStarted) await pause(100);
    await pause(command.ms);
    return;
  }
  const nodes = await hosts.command(line);
  print(`${line.trim()}: ${countText(nodes, 'node')}`);
}

/** Explains how to delete the Nodes: the simulator has no permission to. */
function deletionHint({ nodes, name }: SimulateSettings): string {
  const which = /^\d+$/.test(nodes) ? `nodes -l simulate.everynode.dev/fleet=${name}` : `-f ${nodes}`;
  return `All agents have disconnected. To simulate the same nodes again, repeat the command. To delete them: kubectl delete ${which}`;
}
