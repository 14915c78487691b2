/** Formats rollouts for a terminal. Pure. */
import {
  type Rollout,
  type RolloutStatus,
  requestsOfRevision,
} from '../../../shared/kube/rollouts/rollout-types.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { durationText } from '../../kinds/duration-text.js';

export function progressLine(status: RolloutStatus, now: number): string {
  const { phase, wave, nodes, updated, codes = {}, estimatedEndTime, message } = status;
  const others = Object.entries(codes).filter(([code]) => code !== 'Updated' && code !== 'NotEligible');
  const rest = others.map(([code, count]) => `${count} ${code}`).join(', ');
  const left = estimatedEndTime ? `; ${leftText(Date.parse(estimatedEndTime) - now)}` : '';
  return `${phase}${wave ? ` (${wave})` : ''}: ${updated} of ${nodes} updated${rest ? `, ${rest}` : ''}; ${message}${left}`;
}

/** The estimate is updated only when something happens, so its time may have passed. */
function leftText(leftMs: number): string {
  return leftMs >= 0 ? `about ${durationText(leftMs)} left` : `${durationText(-leftMs)} later than estimated`;
}

export function detailLines(status: RolloutStatus): string[] {
  const { waves, failures = [] } = status;
  return [
    ...tableLines([
      ['WAVE', 'NODES', 'UPDATED', 'IN PROGRESS', 'FAILED', 'OFFLINE', 'OUTSIDE WINDOW', 'SKIPPED'],
      ...waves.map((wave) => [
        wave.name,
        ...[wave.nodes, wave.updated, wave.inProgress ?? 0, wave.failed, wave.deferred].map(String),
        ...[wave.outsideWindow, wave.skipped].map(String),
      ]),
    ]),
    ...failures.map(
      ({ node, reason, message }) => `failed ${node}: ${reason}${message ? `: ${message}` : ''}`,
    ),
    ...requestsOfRevision(status).map(({ time, user, verb, targets = [], reason }) => {
      return `${time} ${user}: ${[verb, ...targets].join(' ')}${reason ? ` (${reason})` : ''}`;
    }),
  ];
}

export function historyLines(rollouts: readonly Rollout[]): string[] {
  const rows = rollouts.flatMap(({ status }) => (status ? [historyRow(status)] : []));
  return tableLines([
    ['REVISION', 'OUTCOME', 'STARTED', 'DURATION', 'NODES', 'UPDATED', 'FAILED', 'BY', 'CAUSE'],
    ...rows,
  ]);
}

function historyRow(status: RolloutStatus): string[] {
  const { revisionNumber, revision, phase, startTime, endTime, nodes, updated, failures = [] } = status;
  const [first] = failures;
  const people = requestsOfRevision(status).map(({ verb, user }) => `${verb}:${user}`);
  return [
    String(revisionNumber ?? revision),
    status.aborted ? `${phase} (aborted)` : phase,
    startTime,
    endTime ? durationText(Date.parse(endTime) - Date.parse(startTime)) : '-',
    String(nodes),
    String(updated),
    String(Math.max(status.failed, failures.length)),
    [...new Set(people)].join(',') || '-',
    first
      ? `${first.node}: ${first.reason}${first.message ? `: ${first.message}` : ''}`
      : (status.failure ?? ''),
  ];
}
