/** The Job controller: runs Pods until enough have succeeded (`pkg/controller/job`). */
import { isDeepStrictEqual } from 'node:util';
import { finishedAs, JOB_CONTROLLER, JOB_TRACKING, type Job } from '../../../shared/kube/jobs/job-types.js';
import { isGone, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, refText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { jobPod, type NewJobPod } from '../../decisions/jobs/job-pod.js';
import { isTracked } from '../../decisions/jobs/job-pod-counts.js';
import { type JobStep, jobStep } from '../../decisions/jobs/job-step.js';
import { BY_OWNER, type Informers, type ObjectChange } from '../../informers/informer.js';
import { jobKind, podKind } from '../../kinds/index.js';
import { apiVersionOf } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { storeStatus } from '../queue/store-status.js';
import { claimObjects, queueOwners } from '../workloads/claimed-objects.js';
import { textOf } from '../workloads/workload-deps.js';

/** Concurrent writes for one Job. */
const WRITES_AT_ONCE = 32;
/** Prefix of the key of a Pod whose Job is gone. */
const ORPHAN = 'orphan:';

interface JobControllerDeps {
  registry: Pick<Registry, 'get' | 'create' | 'modify' | 'writeStatus' | 'delete'>;
  informers: Pick<Informers, 'pods' | 'jobs' | 'waitFor'>;
  clock: Clock;
  log: Logger;
  queueMeter?: QueueMeter;
  /** Component `job-controller`. */
  recordEvent: RecordEvent;
}

export class JobController {
  readonly #deps: JobControllerDeps;
  readonly #worker: Worker;
  /** By uid of the Job: when its back-off ends, on the monotonic clock. The next start begins without. */
  readonly #backoffs = new Map<string, number>();

  constructor(deps: JobControllerDeps) {
    this.#deps = deps;
    const { jobs, pods } = deps.informers;
    this.#worker = new Worker({
      name: 'job',
      reconcile: (key, context) =>
        key.startsWith(ORPHAN)
          ? this.#releaseOrphan(key.slice(ORPHAN.length), context)
          : this.#reconcile(key, context),
      ...deps,
      concurrency: 5,
    });
    jobs.onChange(({ previous, current }) => this.#jobChanged(previous, current));
    pods.onChange((change) => this.#podChanged(change));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Deadlines, back-offs and times to live depend on the wall clock. */
  onClockStep(): void {
    for (const job of this.#deps.informers.jobs.list()) this.#worker.queue.add(refText(job.metadata));
  }

  #jobChanged(previous: Job | undefined, current: Job | undefined): void {
    const job = current ?? previous;
    if (!job) return;
    this.#worker.queue.add(refText(job.metadata));
    if (current) return;
    this.#backoffs.delete(job.metadata.uid ?? '');
    for (const pod of this.#podsOf(job)) this.#queueOrphan(pod);
  }

  #podChanged(change: ObjectChange<Pod>): void {
    queueOwners(this.#deps.informers.jobs, change, ({ metadata }) =>
      this.#worker.queue.add(refText(metadata)),
    );
    if (change.current) this.#queueOrphan(change.current);
  }

  /** A Pod whose Job is gone is counted by no controller, and its finalizer would keep it stored for ever. */
  #queueOrphan(pod: Pod): void {
    if (isTracked(pod) && !this.#hasController(pod))
      this.#worker.queue.add(`${ORPHAN}${refText(pod.metadata)}`);
  }

  /** If another kind controls the Pod, its finalizer is that controller's. Volcano has a kind Job, too. */
  #hasController(pod: Pod): boolean {
    const owner = controllerOf(pod.metadata);
    if (!owner) return false;
    if (owner.kind !== 'Job' || owner.apiVersion !== apiVersionOf(jobKind)) return true;
    return this.#deps.informers.jobs.byUid(owner.uid) !== undefined;
  }

  async #releaseOrphan(key: string, context: ReconcileContext): Promise<void> {
    const pod = this.#deps.informers.pods.get(splitKey(key));
    if (pod && !this.#hasController(pod)) await this.#release(pod, context);
  }

  #podsOf({ metadata }: Job): readonly Pod[] {
    return this.#deps.informers.pods.indexed(BY_OWNER, metadata.uid ?? '');
  }

  /** A finished Job adopts nothing. */
  async #claimPods(job: Job, context: ReconcileContext): Promise<readonly Pod[]> {
    if (finishedAs(job)) return this.#podsOf(job);
    const owner = { kind: jobKind, object: job, finalizer: JOB_TRACKING };
    const candidates = { kind: podKind, informer: this.#deps.informers.pods };
    return claimObjects(this.#deps, owner, candidates, context);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const job = this.#deps.informers.jobs.get(splitKey(key));
    if (!job) return;
    const { clock } = this.#deps;
    const { uid = '' } = job.metadata;
    const held = Math.max(0, (this.#backoffs.get(uid) ?? 0) - clock.monotonic());
    const isForeign = (job.spec.managedBy ?? JOB_CONTROLLER) !== JOB_CONTROLLER;
    // Another controller manages the Job. Its time to live still counts.
    if (isForeign && !finishedAs(job)) return;
    const pods = isForeign ? [] : await this.#claimPods(job, context);
    const step = jobStep(job, pods, clock.now(), held);
    if (step.backoffMs === undefined) this.#backoffs.delete(uid);
    else this.#backoffs.set(uid, clock.monotonic() + step.backoffMs);
    if (step.requeueAfterMs !== undefined) context.requeueAfter(step.requeueAfterMs);
    if (!(await this.#storeStatus(job, step, context))) return;
    await each(step.release, (pod) => this.#release(pod, context));
    await each(step.remove, (pod) => this.#remove(job, pod, context));
    await each(step.discard, async (pod) => {
      await this.#release(pod, context);
      await this.#remove(job, pod, context);
    });
    await this.#createAll(job, step.create, context);
    if (step.isExpired) await this.#removeJob(job, context);
  }

  /** Returns false if the Job has changed since. Its change queues the key again. */
  async #storeStatus(job: Job, { status, events }: JobStep, context: ReconcileContext): Promise<boolean> {
    if (finishedAs(job) || isDeepStrictEqual(status, job.status ?? {})) return true;
    if (!(await storeStatus(this.#deps.registry, jobKind, job, status, context))) return false;
    for (const { type, reason, message } of events) this.#deps.recordEvent(job, type, reason, message);
    return true;
  }

  /** Removes the finalizer of a Pod that is counted, or that must not be counted. */
  async #release(pod: Pod, context: ReconcileContext): Promise<void> {
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        podKind,
        pod.metadata,
        ({ metadata }) => {
          const rest = metadata.finalizers?.filter((one) => one !== JOB_TRACKING) ?? [];
          if (rest.length === (metadata.finalizers?.length ?? 0)) return false;
          if (rest.length > 0) metadata.finalizers = rest;
          else delete metadata.finalizers;
          return undefined;
        },
        { preconditions: preconditionsOf(pod) },
      );
      context.observeWrite(record.object());
    });
  }

  async #remove(job: Job, pod: Pod, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    try {
      const { object } = await registry.delete(podKind, pod.metadata, {
        preconditions: preconditionsOf(pod),
      });
      context.observeWrite(object);
      recordEvent(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    } catch (error) {
      if (isGone(error)) return;
      recordEvent(job, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
      throw error;
    }
  }

  /** The first create runs alone. If the API refuses it, the others are not tried. */
  async #createAll(job: Job, pods: readonly NewJobPod[], context: ReconcileContext): Promise<void> {
    await each(pods.slice(0, 1), (pod) => this.#create(job, pod, context));
    await each(pods.slice(1), (pod) => this.#create(job, pod, context));
  }

  async #create(job: Job, wanted: NewJobPod, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    try {
      const record = await registry.create<Pod>(podKind, job.metadata.namespace, jobPod(job, wanted));
      const created = record.object();
      context.observeWrite(created);
      recordEvent(job, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      if (isNamespaceEnding(error)) return;
      recordEvent(job, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
      throw error;
    }
  }

  async #removeJob(job: Job, context: ReconcileContext): Promise<void> {
    const { uid = '', resourceVersion = '' } = job.metadata;
    await unlessGone(async () => {
      const options = { propagationPolicy: 'Foreground' as const, preconditions: { uid, resourceVersion } };
      context.observeWrite((await this.#deps.registry.delete(jobKind, job.metadata, options)).object);
    });
  }
}

/** Runs `work` for all items, some at a time. Rejects with the first error when all of a batch have ended. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += WRITES_AT_ONCE) {
    const results = await Promise.allSettled(items.slice(from, from + WRITES_AT_ONCE).map(work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
