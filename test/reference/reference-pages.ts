/** All pages of docs/reference/ as texts, made from the compiled programs and their source. */
import { REASON_CODES } from '../../coordinator/decisions/reasons/reason-code.js';
import { reasonSentence } from '../../coordinator/decisions/reasons/reason-sentence.js';
import { describedDefinitions } from '../../coordinator/kinds/schema/described-definitions.js';
import { ROLLOUT_REASON_CODES } from '../../shared/kube/rollouts/rollout-reason-codes.js';
import { agentHelp, everynodeHelp } from './program-help.js';
import {
  eventsPage,
  exitCodesPage,
  kindsPage,
  linkPage,
  metricsPage,
  namesPage,
  settingsPage,
  table,
} from './reference-tables.js';

/** Width of a terminal: help texts are wrapped by it. */
const HELP_WIDTH = 110;

function cliPage(root: string): string {
  const help = [...everynodeHelp(HELP_WIDTH), ...agentHelp(root)];
  return help
    .map(({ path, text }) => `## ${path}\n\n\`\`\`text\n${text}\n\`\`\`\n`)
    .join('\n')
    .trimEnd();
}

function reasonCodesPage(): string {
  const subject = { namespace: 'NAMESPACE', daemonSet: 'NAME', node: 'NODE' };
  const rows = REASON_CODES.map((code) => [
    `\`${code}\``,
    reasonSentence({ code, pod: 'POD', because: 'REASON' }, subject),
  ]);
  const others = ROLLOUT_REASON_CODES.filter((code) => !(REASON_CODES as readonly string[]).includes(code));
  return [
    'Why a DaemonSet runs, or does not run, on a node. `everynode why` prints the sentence.',
    '',
    table(['code', 'sentence'], rows),
    '',
    `Codes of hosts in a rollout, besides those above: ${others.map((code) => `\`${code}\``).join(', ')}.`,
  ].join('\n');
}

function apiGroupPage(): string {
  const own = Object.entries(describedDefinitions()).filter(([name]) => name.startsWith('dev.everynode.'));
  const sections = own.map(([name, { description = '', properties = {} }]) => {
    const rows = Object.entries(properties).map(([field, schema]) => {
      const reference = schema.$ref ?? schema.allOf?.[0]?.$ref ?? schema.items?.$ref ?? '';
      const type = reference.split('.').at(-1) ?? '';
      return [
        `\`${field}\``,
        `${schema.type ?? type}${schema.type === 'array' && type ? ` of ${type}` : ''}`,
        schema.description ?? '',
      ];
    });
    return `## ${name.split('.').at(-1)}\n\n${description}\n\n${table(['field', 'type', 'meaning'], rows)}\n`;
  });
  return [
    'The group `fleet.everynode.dev/v1`. `kubectl explain rolloutpolicy.spec` prints the same.',
    '',
    ...sections,
  ]
    .join('\n')
    .trimEnd();
}

/** File name without `.md`, title and content of every page. `root` is the project's root. */
function pages(root: string): [string, string, string][] {
  return [
    ['cli', 'Commands', cliPage(root)],
    ['settings', 'Settings', settingsPage()],
    ['names', 'Annotations, labels and conditions', namesPage(root)],
    ['events', 'Events', eventsPage(root)],
    ['reason-codes', 'Reason codes', reasonCodesPage()],
    ['exit-codes', 'Exit codes', exitCodesPage(root)],
    ['metrics', 'Metrics', metricsPage(root)],
    ['kinds', 'Kinds', kindsPage()],
    ['api-group', 'API group fleet.everynode.dev', apiGroupPage()],
    ['link-protocol', 'Link protocol', linkPage(root)],
  ];
}

const NOTE = '<!-- Written by `npm run reference` from the source. Do not edit. -->';

/** Texts of all pages by file name. */
export function referencePages(root: string): Map<string, string> {
  const all = pages(root);
  const index = `${NOTE}\n# Reference\n\n${all.map(([name, title]) => `- [${title}](${name}.md)`).join('\n')}\n`;
  return new Map([
    ['index.md', index],
    ...all.map(([name, title, text]): [string, string] => [`${name}.md`, `${NOTE}\n# ${title}\n\n${text}\n`]),
  ]);
}
