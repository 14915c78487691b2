/** The CronDaemonJob controller: creates DaemonJobs ahead of the times of their schedule. */
import type { CronDaemonJob } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isAlreadyExists, isGone, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { type CronDaemonJobStep, cronDaemonJobStep } from '../../decisions/daemonjobs/cron-daemonjob-step.js';
import { cronTimeline } from '../../decisions/daemonjobs/cron-timeline.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { BY_OWNER, type Informers } from '../../informers/informer.js';
import { cronDaemonJobKind, daemonJobKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { NodeTimeZones } from '../nodes/node-time-zones.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { storeStatus } from '../queue/store-status.js';
import { textOf } from '../workloads/workload-deps.js';

/** setTimeout cannot wait longer. The key is reconciled again at the latest after this time. */
const LONGEST_DELAY_MS = 24 * 3_600_000;

interface CronDaemonJobDeps {
  registry: Pick<Registry, 'create' | 'get' | 'modify' | 'writeStatus' | 'delete'>;
  informers: Pick<Informers, 'nodes' | 'daemonJobs' | 'cronDaemonJobs' | 'waitFor'>;
  clock: Clock;
  log: Logger;
  queueMeter?: QueueMeter;
  /** Component `crondaemonjob-controller`. */
  recordEvent: RecordEvent;
}

export class CronDaemonJobController {
  readonly #deps: CronDaemonJobDeps;
  readonly #worker: Worker;
  readonly #zones: NodeTimeZones;

  constructor(deps: CronDaemonJobDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'crondaemonjob',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    const { daemonJobs, cronDaemonJobs } = deps.informers;
    this.#zones = new NodeTimeZones(deps.informers, () => this.onClockStep());
    cronDaemonJobs.onChange(({ current }) => {
      if (current) this.#worker.queue.add(refText(current.metadata));
    });
    daemonJobs.onChange(({ previous, current }) => {
      const owner = controllerOf((current ?? previous)?.metadata ?? { name: '' });
      const cron = owner && cronDaemonJobs.byUid(owner.uid);
      if (cron) this.#worker.queue.add(refText(cron.metadata));
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Due times depend on the wall clock and on the time zones of the hosts. */
  onClockStep(): void {
    for (const { metadata } of this.#deps.informers.cronDaemonJobs.list())
      this.#worker.queue.add(refText(metadata));
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { informers, clock, registry, recordEvent } = this.#deps;
    const cron = informers.cronDaemonJobs.get(splitKey(key));
    if (!cron) return;
    const now = clock.now();
    const schedule = cronTimeline(cron.spec, this.#zones.list(), now);
    if (schedule.kind === 'invalid') {
      recordEvent(cron, 'Warning', schedule.reason, schedule.message);
      return;
    }
    const jobs = informers.daemonJobs
      .indexed(BY_OWNER, cron.metadata.uid ?? '')
      .filter(({ metadata }) => metadata.namespace === cron.metadata.namespace);
    const step = cronDaemonJobStep(cron, jobs, schedule.timeline, now);
    if (step.requeueAfterMs !== undefined)
      context.requeueAfter(Math.min(step.requeueAfterMs, LONGEST_DELAY_MS));
    await this.#act(cron, step, context);
    if (!(await storeStatus(registry, cronDaemonJobKind, cron, step.status, context))) return;
    for (const { type, reason, message } of step.events) recordEvent(cron, type, reason, message);
  }

  async #act(cron: CronDaemonJob, step: CronDaemonJobStep, context: ReconcileContext): Promise<void> {
    for (const { job, to } of step.suspend) await this.#suspend(job, to, context);
    for (const job of step.remove) await this.#remove(cron, job, context);
    for (const job of step.create) await this.#create(cron, job, context);
  }

  async #suspend(job: DaemonJob, to: boolean, context: ReconcileContext): Promise<void> {
    const options = { preconditions: preconditionsOf(job) };
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        daemonJobKind,
        job.metadata,
        ({ spec }) => {
          spec.suspend = to;
          return undefined;
        },
        options,
      );
      context.observeWrite(record.object());
    });
  }

  async #remove(cron: CronDaemonJob, job: DaemonJob, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const options = { propagationPolicy: 'Background' as const, preconditions: preconditionsOf(job) };
    try {
      context.observeWrite((await registry.delete(daemonJobKind, job.metadata, options)).object);
      recordEvent(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    } catch (error) {
      if (isGone(error)) return;
      recordEvent(cron, 'Warning', 'FailedDelete', `Deleted job: ${textOf(error)}`);
      throw error;
    }
  }

  /** A DaemonJob that exists already was created before a restart. */
  async #create(cron: CronDaemonJob, job: DaemonJob, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const { name } = job.metadata;
    try {
      const record = await registry.create<DaemonJob>(daemonJobKind, cron.metadata.namespace, job);
      context.observeWrite(record.object());
      recordEvent(cron, 'Normal', 'SuccessfulCreate', `Created job ${name}`);
    } catch (error) {
      if (isNamespaceEnding(error)) return;
      const isOwn = isAlreadyExists(error) && (await this.#isOwn(cron, job));
      if (isOwn) return;
      recordEvent(cron, 'Warning', 'FailedCreate', `Error creating job: ${textOf(error)}`);
      // A retry would meet the same object. The next time of the schedule has another name.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #isOwn(cron: CronDaemonJob, job: DaemonJob): Promise<boolean> {
    const present = (await this.#deps.registry.get(daemonJobKind, job.metadata)).object();
    return controllerOf(present.metadata)?.uid === cron.metadata.uid;
  }
}
