/** States, counts and durations of DaemonJobs as words. Pure. */

import type { CronDaemonJob } from '../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import {
  type DaemonJob,
  type DaemonJobRollout,
  type DaemonJobStatus,
  daemonJobFinishedAs,
  runOf,
} from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { JobHostState } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { findCondition, isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import type { RolloutPhase } from '../../shared/kube/rollouts/rollout-types.js';
import { rolloutStatus, type ShownStatus } from '../layout/status/object-status.js';
import { t, translated } from '../texts/translate.js';

export const FLEET_API = `/apis/${FLEET_GROUP}/v1`;

/** Returns the path of a collection, in one namespace or in all. */
export const CRON_JOBS = 'crondaemonjobs';

export function jobsPath(resource: string, namespace: string): string {
  return namespace === '' ? `${FLEET_API}/${resource}` : `${FLEET_API}/namespaces/${namespace}/${resource}`;
}

export function jobStatus(job: DaemonJob): ShownStatus {
  const { metadata, spec, status } = job;
  if (metadata.deletionTimestamp) return { tone: 'progress', word: 'Terminating' };
  const finished = daemonJobFinishedAs(job);
  if (finished === 'Failed') return { tone: 'failed', word: 'Failed' };
  if (finished === 'Complete') return { tone: 'ok', word: 'Complete' };
  if (isConditionTrue(status?.conditions, 'FailureTarget')) return { tone: 'failed', word: 'Stopping' };
  if (spec.suspend) return { tone: 'waiting', word: 'Suspended' };
  if (status?.hosts === undefined) return { tone: 'progress', word: 'Not processed yet' };
  const phase = jobRollout(job)?.phase;
  if (phase !== undefined && !HOSTS_RUN.has(phase)) return rolloutStatus(phase);
  if (scheduledStart(job) !== undefined) return { tone: 'ok', word: 'Scheduled' };
  return { tone: 'progress', word: 'Running' };
}

/** Phases of the waves in which nothing keeps hosts from starting. */
const HOSTS_RUN: ReadonlySet<RolloutPhase> = new Set(['Progressing', 'Completed']);

/** Returns the waves of the current run. Undefined without waves, and before the controller has processed a rerun. */
export function jobRollout({ spec, status }: DaemonJob): DaemonJobRollout | undefined {
  return (status?.run ?? 1) === runOf({ spec }) ? status?.rollout : undefined;
}

/** Returns true if hosts start only after an operator has acted. */
export function waitsForOperator(job: DaemonJob): boolean {
  const phase = jobRollout(job)?.phase;
  const waits = phase === 'AwaitingApproval' || phase === 'AwaitingHosts';
  return waits && jobStatus(job).word === rolloutStatus(phase).word;
}

/** Returns `startAt` while no host has started. A rerun starts at once. */
export function scheduledStart({ spec, status }: DaemonJob): string | undefined {
  return status?.startTime === undefined && runOf({ spec }) === 1 ? spec.startAt : undefined;
}

export function cronStatus({ metadata, spec, status }: CronDaemonJob): ShownStatus {
  if (metadata.deletionTimestamp) return { tone: 'progress', word: 'Terminating' };
  if (spec.suspend) return { tone: 'waiting', word: 'Suspended' };
  if ((status?.active?.length ?? 0) > 0) return { tone: 'progress', word: 'Running' };
  return { tone: 'ok', word: 'Scheduled' };
}

const HOST_STATES: Readonly<Record<JobHostState, ShownStatus>> = {
  Failed: { tone: 'failed', word: 'Failed' },
  Missed: { tone: 'maintenance', word: 'Missed' },
  Offline: { tone: 'offline', word: 'Offline' },
  Active: { tone: 'progress', word: 'Running' },
  Waiting: { tone: 'waiting', word: 'Waiting' },
  Succeeded: { tone: 'ok', word: 'Succeeded' },
};

export function jobHostStatus(state: JobHostState): ShownStatus {
  return HOST_STATES[state];
}

/** The fields of the status, in the order of the bar, and their words in a sentence. */
const PARTS = [
  ['succeeded', 'Succeeded', 'succeeded'],
  ['failed', 'Failed', 'failed'],
  ['missed', 'Missed', 'missed'],
  ['active', 'Active', 'running'],
  ['offline', 'Offline', 'offline'],
  ['waiting', 'Waiting', 'waiting'],
] as const satisfies readonly (readonly [keyof DaemonJobStatus, JobHostState, string])[];

interface JobPart {
  state: JobHostState;
  word: string;
  count: number;
}

/** Returns the parts of the bar that have hosts. */
export function jobParts(status: DaemonJobStatus | undefined): JobPart[] {
  return PARTS.map(([field, state, word]) => ({ state, word, count: status?.[field] ?? 0 })).filter(
    ({ count }) => count > 0,
  );
}

/** Returns for example `12 of 20 succeeded, 1 failed, 4 running`. */
export function jobProgressText(status: DaemonJobStatus | undefined): string {
  const others = jobParts(status).filter(({ state }) => state !== 'Succeeded');
  const first = t('{{succeeded}} of {{hosts}} succeeded', {
    succeeded: status?.succeeded ?? 0,
    hosts: status?.hosts ?? 0,
  });
  return [first, ...others.map(({ count, word }) => `${count} ${translated(word)}`)].join(', ');
}

/** Returns why the job has ended early, or '' . */
export function jobFailureText({ status }: DaemonJob): string {
  const condition =
    findCondition(status?.conditions, 'Failed') ?? findCondition(status?.conditions, 'FailureTarget');
  return condition?.status === 'True' ? (condition.message ?? condition.reason ?? '') : '';
}

/** Returns `350 ms`, `12 s`, `3 min 5 s` or `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns the time between two timestamps, or '' if one is absent. */
export function betweenText(from: string | undefined, to: string | undefined): string {
  return from && to ? durationText(Date.parse(to) - Date.parse(from)) : '';
}
