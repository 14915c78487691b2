/**
 * Which DaemonJobs of a CronDaemonJob exist. That of the next time is created when the time before has come, so that
 * hosts know it in advance (`pkg/controller/cronjob` for events, history and the last time).
 */

import { parseDateInput } from '../../../shared/calendar/date-text.js';
import type {
  CronDaemonJob,
  CronDaemonJobStatus,
} from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { SERIES_ANNOTATION } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { type DaemonJob, daemonJobFinishedAs } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { type CronEvent, surplusHistory, updateActive } from '../jobs/cron-history.js';
import type { CronTimeline } from './cron-timeline.js';
import { type SeriesOfJob, seriesOf } from './host-start.js';

export interface CronDaemonJobStep {
  status: CronDaemonJobStatus;
  events: CronEvent[];
  create: DaemonJob[];
  /** Finished DaemonJobs above the history limits, and those that have begun nowhere and are not wanted any more. */
  remove: DaemonJob[];
  /** DaemonJobs that have begun on some hosts only, and must start or not start on the others. */
  suspend: { job: DaemonJob; to: boolean }[];
  /** Delay until the next time of the schedule. Undefined: there is none. */
  requeueAfterMs?: number;
}

/** Decides from the CronDaemonJob and the DaemonJobs that it owns. `now` in ms since the epoch. */
export function cronDaemonJobStep(
  cron: CronDaemonJob,
  jobs: readonly DaemonJob[],
  timeline: CronTimeline,
  now: number,
): CronDaemonJobStep {
  const { first, last, instantOf } = timeline;
  const status: CronDaemonJobStatus = { ...cron.status };
  delete status.nextScheduleTime;
  const remove = surplusHistory(cron, jobs, daemonJobFinishedAs);
  const step: CronDaemonJobStep = { status, events: [], create: [], remove, suspend: [] };
  const open = jobs.filter((job) => !daemonJobFinishedAs(job) && !job.metadata.deletionTimestamp);
  listBegun(
    step,
    open.filter((job) => timeOf(job) <= first),
  );
  const listed = new Set((status.active ?? []).map(({ uid }) => uid));
  const started = jobs.filter((job) => listed.has(job.metadata.uid) || daemonJobFinishedAs(job));
  updateActive(step, started, daemonJobFinishedAs);
  if (cron.metadata.deletionTimestamp) return step;
  const next = timeline.nextAfter(first);
  const wanted = wantedTimes(cron, timeline, next, now);
  const names = new Set(wanted.map((time) => nameOf(cron, time)));
  for (const job of open) {
    if (timeOf(job) <= first) step.suspend.push(...suspension(cron, job, last));
    else if (!names.has(job.metadata.name) || !isCurrent(cron, job)) step.remove.push(job);
  }
  // A DaemonJob that is removed now has the name of its successor, which is created by the next reconcile.
  const present = new Set(jobs.map(({ metadata }) => metadata.name));
  for (const time of wanted)
    if (!present.has(nameOf(cron, time))) step.create.push(daemonJobOf(cron, time, timeline));
  const due = Math.max(...[...jobs.map(timeOf), ...wanted].filter((time) => time <= first));
  if (Number.isFinite(due)) status.lastScheduleTime = later(status.lastScheduleTime, instantOf(due), now);
  if (next !== undefined && !cron.spec.suspend) status.nextScheduleTime = toTimestamp(instantOf(next));
  if (next !== undefined) step.requeueAfterMs = Math.max(1, instantOf(next) - now);
  return step;
}

/** A DaemonJob becomes active when its time comes on the first host, not when it is created. */
function listBegun({ status }: CronDaemonJobStep, begun: readonly DaemonJob[]): void {
  const active = status.active ?? [];
  const added = begun.filter(({ metadata }) => !active.some(({ uid }) => uid === metadata.uid));
  if (added.length === 0) return;
  status.active = [...active, ...added.map(({ metadata }) => referenceTo(metadata))];
}

function referenceTo({ name, namespace, uid = '' }: DaemonJob['metadata']): ObjectReference {
  return {
    ...{ apiVersion: `${FLEET_GROUP}/v1`, kind: 'DaemonJob', name, uid },
    ...(namespace && { namespace }),
  };
}

/**
 * Returns the next time, and the last one if it came while no coordinator ran and hosts may still start. Times before the
 * creation do not count.
 */
function wantedTimes(
  { spec, status, metadata }: CronDaemonJob,
  { first, timeAt, lastUntil }: CronTimeline,
  next: number | undefined,
  now: number,
): number[] {
  if (spec.suspend) return [];
  const stored = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '') || now;
  const { startingDeadlineSeconds: deadline } = spec;
  const tooLate = deadline === undefined ? 0 : Math.max(0, now - deadline * 1000);
  const since = timeAt(Math.max(tooLate, Math.min(stored, now)));
  const due = lastUntil(first, since);
  return [...(due === undefined ? [] : [due]), ...(next === undefined ? [] : [next])];
}

/** A last time in the future was stored before the clock was set back. */
function later(stored: string | undefined, due: number, now: number): string {
  const before = Date.parse(stored ?? '');
  return toTimestamp(before <= now ? Math.max(before, due) : due);
}

function suspension({ spec }: CronDaemonJob, job: DaemonJob, last: number): CronDaemonJobStep['suspend'] {
  const to = spec.suspend === true || spec.jobTemplate.spec.suspend === true;
  // Everywhere begun: what runs continues, as upstream.
  return timeOf(job) <= last || (job.spec.suspend ?? false) === to ? [] : [{ job, to }];
}

/** True if the DaemonJob was made of the present spec. */
function isCurrent({ metadata }: CronDaemonJob, job: DaemonJob): boolean {
  return seriesOf(job)?.generation === metadata.generation;
}

/** Returns the time of the schedule for which the DaemonJob was created. */
function timeOf({ spec }: DaemonJob): number {
  const input = parseDateInput(spec.startAt ?? '');
  if (!input) return Number.NEGATIVE_INFINITY;
  return 'wall' in input ? input.wall : input.instant;
}

/** The name is the same after a restart, so each DaemonJob is created only once. */
function nameOf({ metadata: { name } }: CronDaemonJob, time: number): string {
  return `${name}-${Math.floor(time / 60_000)}`;
}

function daemonJobOf(cron: CronDaemonJob, time: number, { textOf, nextAfter }: CronTimeline): DaemonJob {
  const { metadata, spec } = cron;
  const { namespace, name, uid = '', generation } = metadata;
  const { metadata: given, spec: jobSpec } = spec.jobTemplate;
  const next = nextAfter(time);
  const series: SeriesOfJob = {
    uid,
    concurrency: spec.concurrencyPolicy ?? 'Allow',
    ...(generation !== undefined && { generation }),
    ...(next !== undefined && { next: textOf(next) }),
  };
  const deadline = spec.startingDeadlineSeconds;
  return {
    apiVersion: `${FLEET_GROUP}/v1`,
    kind: 'DaemonJob',
    metadata: {
      name: nameOf(cron, time),
      ...(namespace && { namespace }),
      ...(given?.labels && { labels: { ...given.labels } }),
      annotations: { ...given?.annotations, [SERIES_ANNOTATION]: JSON.stringify(series) },
      ownerReferences: [
        {
          apiVersion: `${FLEET_GROUP}/v1`,
          kind: 'CronDaemonJob',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...jobSpec,
      startAt: textOf(time),
      ...(deadline !== undefined && { startingDeadlineSeconds: deadline }),
    },
  };
}
