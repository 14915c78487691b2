/** The reference pages that are tables of the code's own constants: settings, codes, names, Events, metrics, messages, kinds. */
import { hostname } from 'node:os';
import { AGENT_SETTINGS } from '../../agent/program/agent-settings.js';
import { SIMULATE_SETTINGS } from '../../agent/simulate/simulate-settings.js';
import { PLAN_EXIT_CODES } from '../../coordinator/cli/commands/plan-command.js';
import { COORDINATOR_SETTINGS, defaultDataDir } from '../../coordinator/coordinator-settings.js';
import { ALL_KINDS, VIEW_KINDS } from '../../coordinator/kinds/index.js';
import type { Kind } from '../../coordinator/kinds/kind.js';
import { UNSUPPORTED_KINDS } from '../../coordinator/kinds/unsupported-kinds.js';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import {
  NEEDS_REASON,
  REASON_ANNOTATION,
  STEERING_VERBS,
} from '../../shared/kube/rollouts/steering-requests.js';
import { EXIT_CODES } from '../../shared/process/exit-error.js';
import { flagName, type SettingsSchema } from '../../shared/process/settings/settings-schema.js';
import {
  commentText,
  documentedConstants,
  documentedFields,
  documentedMembers,
  sourcesBelow,
  sourceText,
} from './source-comments.js';

/** A row of cells; `|` inside a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string) => (text === '' ? '' : `\`${text}\``);
const sentence = (text: string) => (text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}`);

/** Replaces defaults that depend on the machine by placeholders. */
export function withoutMachine(text: string): string {
  return text.replaceAll(hostname(), 'HOSTNAME').replaceAll(defaultDataDir(), '/var/lib/everynode');
}

function settingsTable(schema: SettingsSchema): string {
  const rows = Object.entries(schema)
    .filter(([, { description }]) => description !== '')
    .map(([name, { description, placeholder, default: fallback }]) => [
      code(`${flagName(name)}${placeholder ? ` ${placeholder}` : ''}`),
      fallback === undefined || fallback === '' ? '' : code(withoutMachine(String(fallback))),
      sentence(description),
    ]);
  return table(['flag', 'default', 'meaning'], rows);
}

/** Every setting of each program. */
export function settingsPage(): string {
  return [
    'Each setting is a flag, an environment variable with the prefix `EVERYNODE_` (`--data` is `EVERYNODE_DATA`), or a line',
    'of the YAML file of `--config` in camel case. The flag wins, then the variable, then the file.',
    '',
    '## Coordinator',
    '',
    settingsTable(COORDINATOR_SETTINGS),
    '',
    '## Agent',
    '',
    settingsTable(AGENT_SETTINGS),
    '',
    '## Simulation',
    '',
    settingsTable(SIMULATE_SETTINGS),
  ].join('\n');
}

/** Exit codes with their comments. */
export function exitCodesPage(root: string): string {
  const text = sourceText(root, 'shared/process/exit-error.ts');
  const body = /EXIT_CODES = \{([\s\S]*?)\} as const/.exec(text)?.[1] ?? '';
  const comments = new Map(documentedMembers(body).map(({ name, comment }) => [name, comment]));
  const rows = Object.entries(EXIT_CODES).map(([name, value]) => [
    String(value),
    name,
    comments.get(name) ?? '',
  ]);
  const all = table(['code', 'name', 'meaning'], [['0', 'success', ''], ...rows]);
  const own = Object.entries(PLAN_EXIT_CODES).map(([verdict, value]) => [String(value), code(verdict)]);
  const others = table(['code', 'verdict'], [...own, ['1', 'any error']]);
  return [all, '`everynode plan` has codes of its own, for pipelines:', others].join('\n\n');
}

const ROOMS = ['coordinator', 'agent', 'shared'];

/** Annotations, labels, taints and conditions of Everynode's own. */
export function namesPage(root: string): string {
  const rows = ROOMS.flatMap((room) => sourcesBelow(root, room))
    .flatMap((path) =>
      documentedConstants(
        sourceText(root, path),
        /^(?:[\w.-]*everynode\.dev\/[\w.-]+|Connected|ClockSkewed)$/,
      ),
    )
    .map(({ value, comment }) => [code(value), comment] as const);
  const unique = new Map(rows);
  const verbs = STEERING_VERBS.map((verb) => [
    code(`${FLEET_GROUP}/${verb}`),
    NEEDS_REASON.has(verb) ? `needs ${code(REASON_ANNOTATION)}` : '',
  ]);
  return [
    table(
      ['name', 'meaning'],
      [...unique].sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    '',
    '## Annotations of a Rollout that steer it',
    '',
    table(['annotation', 'condition'], verbs),
  ].join('\n');
}

/** Reasons of Events, by the calls that record them. */
export function eventsPage(root: string): string {
  const reasons = new Map<string, { type: string; message: string }>();
  const calls = [
    /\(\s*[\w.]+,\s*'(Normal|Warning)',\s*'(\w+)',\s*([^\n]*)/g,
    /\b(?:about|tell|report)\(\s*'(Normal|Warning)',\s*'(\w+)',\s*([^\n]*)/g,
    /type: '(Normal|Warning)',\s*reason: '(\w+)'(?:,\s*message: ([^\n]*))?/g,
  ];
  for (const path of ['coordinator', 'agent'].flatMap((room) => sourcesBelow(root, room))) {
    const text = sourceText(root, path);
    for (const call of calls) {
      for (const [, type = '', reason = '', rest = ''] of text.matchAll(call)) {
        const message = /^(['"`])(.*?)\1/.exec(rest)?.[2] ?? '';
        const known = reasons.get(reason);
        if (!known || known.message === '')
          reasons.set(reason, { type, message: message.replace(/\$\{[^}]*\}/g, '…') });
      }
    }
  }
  const rows = [...reasons].sort(([a], [b]) => (a < b ? -1 : 1));
  return table(
    ['reason', 'type', 'text'],
    rows.map(([reason, { type, message }]) => [code(reason), type, message]),
  );
}

/** Metrics with their help texts. */
export function metricsPage(root: string): string {
  const metric =
    /'((?:everynode|kube|apiserver|workqueue|node_collector|kubelet)_[a-z0-9_]+)',\s*(?:'\w+',\s*)?(?:help: )?(['"])((?:(?!\2)[^\\]|\\.)+)\2/g;
  const found = new Map<string, [string, string]>();
  for (const path of ['coordinator', 'agent'].flatMap((room) => sourcesBelow(root, room))) {
    const program = path.startsWith('agent/') ? 'agent' : 'coordinator';
    for (const [, name = '', , help = ''] of sourceText(root, path).matchAll(metric))
      found.set(name, [program, help]);
  }
  const rows = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return table(
    ['metric', 'program', 'meaning'],
    rows.map(([name, [program, help]]) => [code(name), program, help]),
  );
}

const INTERFACE =
  /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?)\s*(export )?interface (\w+)(?: extends (\w+))? \{\n([\s\S]*?\n)\}/g;

/** Messages of the agent link with their fields, also the inherited ones. */
export function linkPage(root: string): string {
  const paths = sourcesBelow(root, 'shared/link/messages');
  const messages = paths.flatMap((path) => [...sourceText(root, path).matchAll(INTERFACE)]);
  const inherited = [...sourceText(root, 'shared/kube/nodes/heartbeat-config.ts').matchAll(INTERFACE)];
  const bodies = new Map([...messages, ...inherited].map(([, , , name = '', , body = '']) => [name, body]));
  const exported = messages.filter(([, , mark]) => mark !== undefined);
  const sections = exported.map(([, comment = '', , name = '', base, body = '']) => {
    const kind = /^ {2}kind: '(\w+)'/m.exec(body)?.[1];
    const own = documentedFields(body);
    const all = base === undefined ? own : [...documentedFields(bodies.get(base) ?? ''), ...own];
    // In a message `kind` is part of the title; in other types it is a field.
    const rows = all.filter((field) => kind === undefined || field.name !== 'kind');
    const title = kind === undefined ? `### ${name}` : `### ${name}: kind \`${kind}\``;
    const fields = rows.map((field) => [code(field.name), code(field.value), field.comment]);
    const fieldTable = rows.length > 0 ? table(['field', 'type', 'meaning'], fields) : '';
    return [title, commentText(comment), fieldTable].filter((part) => part !== '').join('\n\n');
  });
  return [
    'A WebSocket over TLS with the subprotocol `everynode.v1`. Each frame is one msgpack map with a `kind`, at most 4 MiB.',
    '',
    ...sections.map((section) => `${section}\n`),
  ].join('\n');
}

function kindRow({ group, version, kind, resource, shortNames, namespaced }: Kind): string[] {
  const names = [kind, code(group === '' ? version : `${group}/${version}`), code(resource)];
  return [...names, shortNames.join(', '), namespaced ? 'yes' : 'no'];
}

/** Kinds that the API stores, their other versions, with their verbs, and kinds without objects, with their refusals. */
export function kindsPage(): string {
  const head = ['kind', 'version', 'resource', 'short names', 'namespaced'];
  return [
    table(
      [...head, 'verbs'],
      [...ALL_KINDS, ...VIEW_KINDS].map((kind) => [...kindRow(kind), kind.verbs.join(', ')]),
    ),
    '## Kinds without objects',
    'Clients can list and watch these kinds, and always find none. Every other request is 405 with the refusal.',
    table(
      [...head, 'refusal'],
      UNSUPPORTED_KINDS.map(({ kind, refusal }) => [...kindRow(kind), refusal]),
    ),
  ].join('\n\n');
}
