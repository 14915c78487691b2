/** Formats a plan for a terminal. Pure. */

import {
  CHANGING_ACTIONS,
  type DaemonSetPlan,
  type Plan,
  type PlannedHost,
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
    ...table([
      ['HOST', 'ACTION', 'CODE', 'WAVE', 'FROM', 'UNTIL', 'REASON'],
      ...changing.slice(0, Math.max(0, mostHosts)).map(hostRow),
    ]),
    ...(hidden > 0 && mostHosts > 0
      ? [`  and ${countText(hidden, 'host')} more (--hosts all, or -o json)`]
      : []),
  ];
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
