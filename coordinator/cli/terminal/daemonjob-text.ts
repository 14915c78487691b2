/** Texts of the job commands. */
import { UPDATE_LOCKED } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobResult,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { JobHost } from '../../../shared/kube/fleet/daemonjob-host-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { durationText } from '../../kinds/duration-text.js';

const HEADER = ['NODE', 'RESULT', 'EXIT CODE', 'ATTEMPTS', 'DURATION', 'REASON', 'OUTPUT'];

/** Returns for example `12 of 20 hosts succeeded, 1 failed, 4 active, 3 offline`. */
export function jobProgressLine({ status }: DaemonJob): string {
  const { hosts = 0, succeeded = 0, failed, missed, active, offline, waiting } = status ?? {};
  const others = Object.entries({ failed, missed, active, offline, waiting }).flatMap(([name, count]) =>
    count ? [`${count} ${name}`] : [],
  );
  return [`${succeeded} of ${countText(hosts, 'host')} succeeded`, ...others].join(', ');
}

/** Returns how the job ended, or its progress. */
export function jobOutcomeLine(job: DaemonJob): string {
  const finished = daemonJobFinishedAs(job);
  const name = job.metadata.name;
  if (finished === undefined) return `${name}: ${jobProgressLine(job)}`;
  const { reason, message } = findCondition(job.status?.conditions, finished) ?? {};
  return finished === 'Complete'
    ? `${name} is complete: ${jobProgressLine(job)}`
    : `${name} has failed (${reason}: ${message}): ${jobProgressLine(job)}`;
}

/** Returns a line for each host that holds its Pod back: what it waits for. */
export function waitingLines(hosts: readonly JobHost[]): string[] {
  return tableLines(
    hosts.map(({ node, state, reason = '', message = '' }) => [node, state, reason, message]),
  );
}

/** Returns what the job does on one host, why, and what an operator can do. */
export function jobHostLine({ metadata }: DaemonJob, host: JobHost): string {
  const { node, state, reason, message } = host;
  const why = [reason, message].filter(Boolean).join(': ');
  const text = `${state}: DaemonJob ${metadata.namespace}/${metadata.name} on ${node}${why && `: ${why}`}`;
  if (reason !== UPDATE_LOCKED) return text;
  const command = `everynode rollout override-locks -n ${metadata.namespace} dj/${metadata.name} ${node} --reason WHY`;
  return `${text}; if it cannot wait: ${command}`;
}

/** Returns a table with the last line of each host's output. `isWide`: with all lines, and when each host ran it. */
export function resultTable(results: readonly DaemonJobResult[], { isWide = false } = {}): string[] {
  const wide = results.map((result) => [...cellsOf(result).slice(0, -1), ...wideCellsOf(result)]);
  if (isWide) return tableLines([[...HEADER.slice(0, -1), 'STARTED', 'ENDED', 'OUTPUT'], ...wide]);
  return tableLines([HEADER, ...results.map(cellsOf)]);
}

function wideCellsOf({ startTime, completionTime, message = '' }: DaemonJobResult): string[] {
  return [startTime ?? '-', completionTime ?? '-', message.trimEnd()];
}

function cellsOf(result: DaemonJobResult): string[] {
  const { nodeName, phase, exitCode, attempts, startTime, completionTime, reason, message = '' } = result;
  const duration =
    startTime && completionTime ? durationText(Date.parse(completionTime) - Date.parse(startTime)) : '-';
  const line = message.trimEnd().split('\n').at(-1) ?? '';
  return [nodeName, phase, String(exitCode ?? '-'), String(attempts), duration, reason ?? '-', line];
}
