/** Commands of the operator or a script to simulated hosts, one a line. */

import { type NodeQuery, parseNodeQuery } from './node-query.js';
import type { SimulatedNodeFleet } from './simulated-node-fleet.js';
import { durationMs } from './simulation-annotations.js';

const STATUSES = ['True', 'False', 'Unknown'] as const;

type SimulationCommand =
  | { kind: 'offline' | 'online' | 'reboot'; nodes: NodeQuery }
  | { kind: 'slow'; delayMs: number; nodes: NodeQuery }
  | { kind: 'condition'; type: string; status: (typeof STATUSES)[number]; nodes: NodeQuery }
  /** For scripts. */
  | { kind: 'wait'; ms: number };

export const COMMANDS_HELP = `offline NODES | online NODES | reboot NODES | slow DURATION NODES (0s: no delay)
condition TYPE=True|False|Unknown NODES | wait DURATION
NODES: names (node-3,node-7), a label selector (zone=a), or *`;

/** Parses a line. Returns undefined for an empty one or a comment. Throws an Error for an invalid command. */
export function parseCommand(line: string): SimulationCommand | undefined {
  const [word = '', ...rest] = line.replace(/#.*$/, '').trim().split(/\s+/);
  switch (word) {
    case '':
      return undefined;
    case 'offline':
    case 'online':
    case 'reboot':
      return { kind: word, nodes: nodesOf(rest) };
    case 'slow':
      return { kind: word, delayMs: durationOf(rest[0]), nodes: nodesOf(rest.slice(1)) };
    case 'condition':
      return { kind: word, ...conditionOf(rest[0]), nodes: nodesOf(rest.slice(1)) };
    case 'wait':
      return { kind: word, ms: durationOf(rest[0]) };
    default:
      throw new Error(`unknown command "${word}"\n${COMMANDS_HELP}`);
  }
}

/** Performs a command. Returns how many hosts it selected. The caller performs `wait`. */
export async function performCommand(command: SimulationCommand, fleet: SimulatedNodeFleet): Promise<number> {
  if (command.kind === 'wait') return 0;
  const nodes = fleet.select(command.nodes);
  switch (command.kind) {
    case 'offline':
      for (const { network } of nodes) network.cut();
      break;
    case 'online':
      for (const { network } of nodes) network.restore();
      break;
    case 'slow':
      for (const { network } of nodes) network.slow(command.delayMs);
      break;
    case 'condition':
      for (const node of nodes) node.setCondition(command.type, command.status);
      break;
    case 'reboot':
      await Promise.all(nodes.map((node) => node.reboot()));
      break;
  }
  return nodes.length;
}

function nodesOf(words: readonly string[]): NodeQuery {
  if (words.length === 0) throw new Error('name the nodes: names, a label selector, or *');
  return parseNodeQuery(words.join(' '));
}

function durationOf(text: string | undefined): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new Error(`"${text ?? ''}" is not a duration such as 300ms or 1m30s`);
  return ms;
}

function conditionOf(text = ''): { type: string; status: (typeof STATUSES)[number] } {
  const [type, value] = text.split('=');
  const status = STATUSES.find((each) => each === value);
  if (!type || !status) throw new Error(`"${text}" is not of the form TYPE=True|False|Unknown`);
  return { type, status };
}
