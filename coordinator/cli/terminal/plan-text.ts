/** Formats a plan for a terminal. Pure. */

import {
  CHANGING_ACTIONS,
  type DaemonSetPlan,
  type Plan,
  type PlannedHost,
  type PlannedSetting,
  type PlannedVariant,
} from '../../../shared/kube/fleet/plan-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { spanText } from '../../decisions/plan/plan-sentence.js';

const VERDICTS: Readonly<Record<Plan['verdict'], string>> = {
  NoChange: 'No changes.',
  Changes: 'Nothing was changed. Apply the manifests to make these changes.',
  Blocked: 'Blocked: see above.',
};

/** `mostHosts`: maximum number of listed hosts per DaemonSet. */
export function planLines({ daemonSets, refused, notes, verdict }: Plan, mostHosts: number): string[] {
  return [
    ...daemonSets.flatMap((plan) => [...daemonSetLines(plan, mostHosts), '']),
    ...refused.map(({ kind, name, message }) => `REFUSED ${kind} ${name}: ${message}`),
    ...notes.map((note) => `note: ${note}`),
    VERDICTS[verdict],
  ];
}

function daemonSetLines(plan: DaemonSetPlan, mostHosts: number): string[] {
  const { sentence, change, revision, previousRevision, reasons, assumptions, waves, hosts } = plan;
  const changing = hosts.filter(({ action }) => CHANGING_ACTIONS.includes(action));
  const revisions = previousRevision ? `revision ${previousRevision} → ${revision}` : `revision ${revision}`;
  const hidden = changing.length - mostHosts;
  return [
    sentence,
    `  ${change === 'None' ? 'unchanged' : change.toLowerCase()}, ${revisions}`,
    ...(changing.length > 0
      ? [`  initially: ${reasons.map(({ code, count }) => `${count} ${code}`).join(', ')}`]
      : []),
    ...(changing.length > 0 ? assumptions.map((text) => `  assuming that ${text}`) : []),
    ...table([
      ['WAVE', 'NODES', 'CHANGES', 'FROM', 'UNTIL', ''],
      ...waves.map(({ name, nodes, changes, startSeconds, endSeconds, needsApproval }) => [
        name,
        String(nodes),
        String(changes),
        timeText(startSeconds),
        timeText(endSeconds),
        needsApproval ? 'needs approval' : '',
      ]),
    ]),
    ...variantLines(plan),
    ...table([
      ['HOST', 'ACTION', 'CODE', 'WAVE', 'FROM', 'UNTIL', 'REASON'],
      ...changing.slice(0, Math.max(0, mostHosts)).map(hostRow),
    ]),
    ...(hidden > 0 && mostHosts > 0
      ? [`  and ${countText(hidden, 'host')} more (--hosts all, or -o json)`]
      : []),
  ];
}

/** Maximum number of listed variants per DaemonSet. */
const MOST_VARIANTS = 10;

/** One template without overrides and values makes one variant, which says no more than the manifest. */
function variantLines({ variants, otherVariants }: DaemonSetPlan): string[] {
  if (variants.every(({ settings }) => settings.length === 0)) return [];
  const hidden = variants.slice(MOST_VARIANTS);
  const count = hidden.length + (otherVariants?.variants ?? 0);
  const hosts = hidden.reduce((sum, { hosts: size }) => sum + size, otherVariants?.hosts ?? 0);
  return [
    ...table([
      ['HOSTS', 'CHANGES', 'IMAGES', 'NODES', 'OVERRIDES AND VALUES'],
      ...variants.slice(0, MOST_VARIANTS).map(variantRow),
    ]),
    ...(count > 0
      ? [`  and ${countText(count, 'more variant', 'more variants')} on ${countText(hosts, 'host')}`]
      : []),
  ];
}

/** Number of host names that fit in a line. */
const MOST_NODES = 3;

function variantRow({ hosts, changes, images, nodes, settings }: PlannedVariant): string[] {
  const named = Object.entries(images).map(([name, image]) => `${name}=${image}`);
  const more = hosts > MOST_NODES ? ', …' : '';
  return [
    String(hosts),
    String(changes),
    named.join(', '),
    `${nodes.slice(0, MOST_NODES).join(', ')}${more}`,
    settings.map(settingText).join('; ') || '-',
  ];
}

function settingText(setting: PlannedSetting): string {
  const { path } = setting;
  if ('distinctValues' in setting) return `${path}: ${setting.distinctValues} different values`;
  return `${path}=${setting.value} (${setting.from})`;
}

function hostRow({
  node,
  action,
  code,
  wave,
  startSeconds,
  endSeconds,
  message: because,
}: PlannedHost): string[] {
  return [node, action, code, wave ?? '-', timeText(startSeconds), timeText(endSeconds), because ?? ''];
}

function timeText(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  return seconds === 0 ? 'now' : `+${spanText(seconds)}`;
}

/** Returns an indented table, or no line if there is only the heading. */
function table(rows: readonly string[][]): string[] {
  return rows.length === 1 ? [] : tableLines(rows).map((line) => `  ${line}`);
}
