/** The CronJob controller: starts Jobs at the times of their schedule (`pkg/controller/cronjob`). */
import { isDeepStrictEqual } from 'node:util';
import type { CronJob, Job } from '../../../shared/kube/jobs/job-types.js';
import { ApiError, isGone, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { type CronStep, cronStep, jobOfSchedule } from '../../decisions/jobs/cron-step.js';
import { BY_OWNER, type Informers } from '../../informers/informer.js';
import { cronJobKind, jobKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { textOf } from '../workloads/workload-deps.js';

/** Upstream starts Jobs this late at the earliest, so that rounding never starts one before its time. */
const LATENESS_MS = 100;
/** setTimeout cannot wait longer. The key is reconciled again at the latest after this time. */
const LONGEST_DELAY_MS = 24 * 3_600_000;

interface CronJobControllerDeps {
  registry: Pick<Registry, 'create' | 'get' | 'writeStatus' | 'delete'>;
  informers: Pick<Informers, 'jobs' | 'cronJobs' | 'waitFor'>;
  clock: Clock;
  log: Logger;
  queueMeter?: QueueMeter;
  /** Component `cronjob-controller`. */
  recordEvent: RecordEvent;
}

export class CronJobController {
  readonly #deps: CronJobControllerDeps;
  readonly #worker: Worker;

  constructor(deps: CronJobControllerDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'cronjob',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    const { jobs, cronJobs } = deps.informers;
    cronJobs.onChange(({ current }) => {
      if (current) this.#worker.queue.add(refText(current.metadata));
    });
    jobs.onChange(({ previous, current }) => {
      const owner = controllerOf((current ?? previous)?.metadata ?? { name: '' });
      const cronJob = owner && cronJobs.byUid(owner.uid);
      if (cronJob) this.#worker.queue.add(refText(cronJob.metadata));
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Due times depend on the wall clock. */
  onClockStep(): void {
    for (const { metadata } of this.#deps.informers.cronJobs.list())
      this.#worker.queue.add(refText(metadata));
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { informers, clock, recordEvent } = this.#deps;
    const cronJob = informers.cronJobs.get(splitKey(key));
    if (!cronJob) return;
    const jobs = informers.jobs.indexed(BY_OWNER, cronJob.metadata.uid ?? '');
    const step = cronStep(cronJob, jobs, clock.now());
    if (step.requeueAfterMs !== undefined)
      context.requeueAfter(Math.min(step.requeueAfterMs + LATENESS_MS, LONGEST_DELAY_MS));
    for (const { type, reason, message } of step.events) recordEvent(cronJob, type, reason, message);
    for (const job of step.remove) {
      await this.#remove(cronJob, job, context);
      // Otherwise the next reconcile would report the Job as missing.
      forget(step, job);
    }
    if (step.due !== undefined) await this.#start(cronJob, step, step.due, context);
    await this.#storeStatus(cronJob, step, context);
  }

  async #remove(cronJob: CronJob, job: Job, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const options = { propagationPolicy: 'Background' as const, preconditions: preconditionsOf(job) };
    try {
      context.observeWrite((await registry.delete(jobKind, job.metadata, options)).object);
      recordEvent(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    } catch (error) {
      if (isGone(error)) return;
      recordEvent(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${textOf(error)}`);
      throw error;
    }
  }

  /** A Job that exists already was created before a restart: it only has to be recorded. */
  async #start(
    cronJob: CronJob,
    { status }: CronStep,
    due: number,
    context: ReconcileContext,
  ): Promise<void> {
    const wanted = jobOfSchedule(cronJob, due);
    const job = await this.#createOrFind(cronJob, wanted, context);
    if (!job) return;
    const { name, namespace, uid = '', resourceVersion = '' } = job.metadata;
    const reference = {
      ...{ apiVersion: 'batch/v1', kind: 'Job', name, uid, resourceVersion },
      ...(namespace && { namespace }),
    };
    status.active = [...(status.active ?? []).filter((one) => one.uid !== uid), reference];
    status.lastScheduleTime = toTimestamp(due);
  }

  async #createOrFind(cronJob: CronJob, wanted: Job, context: ReconcileContext): Promise<Job | undefined> {
    const { registry, recordEvent } = this.#deps;
    try {
      const record = await registry.create<Job>(jobKind, cronJob.metadata.namespace, wanted);
      context.observeWrite(record.object());
      recordEvent(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${wanted.metadata.name}`);
      return record.object();
    } catch (error) {
      if (isNamespaceEnding(error)) return undefined;
      if (error instanceof ApiError && error.reason === 'AlreadyExists') {
        const present = (await registry.get(jobKind, wanted.metadata)).object();
        if (controllerOf(present.metadata)?.uid === cronJob.metadata.uid) return present;
        // A retry would meet the same Job. The next time of the schedule has another name.
        recordEvent(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${textOf(error)}`);
        return undefined;
      }
      recordEvent(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${textOf(error)}`);
      throw error;
    }
  }

  async #storeStatus(cronJob: CronJob, { status }: CronStep, context: ReconcileContext): Promise<void> {
    if (isDeepStrictEqual(status, cronJob.status ?? {})) return;
    const { resourceVersion } = cronJob.metadata;
    await unlessGone(async () => {
      const record = await this.#deps.registry.writeStatus(
        cronJobKind,
        cronJob.metadata,
        (current) => {
          if (current.metadata.resourceVersion === resourceVersion) return status;
          context.requeueAfter(0);
          return undefined;
        },
        preconditionsOf(cronJob),
      );
      context.observeWrite(record.object());
    });
  }
}

/** Removes a deleted Job from `status.active`. */
function forget({ status }: CronStep, { metadata }: Job): void {
  const active = (status.active ?? []).filter(({ uid }) => uid !== metadata.uid);
  if (active.length > 0) status.active = active;
  else delete status.active;
}
