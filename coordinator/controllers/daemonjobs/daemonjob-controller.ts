/** The DaemonJob controller: runs a Pod to completion once on each eligible host. */
import { isDeepStrictEqual } from 'node:util';
import { hasOtherOverride } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobStatus,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isAlreadyExists } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { type HostStep, hostStep } from '../../decisions/daemonjobs/daemonjob-host.js';
import { daemonJobPod, isOwnedBy, isTracked } from '../../decisions/daemonjobs/daemonjob-pod.js';
import type { HostOutcome } from '../../decisions/daemonjobs/daemonjob-result.js';
import { type DaemonJobStep, daemonJobStep, runEnd } from '../../decisions/daemonjobs/daemonjob-step.js';
import { judgeWaves } from '../../decisions/daemonjobs/daemonjob-waves.js';
import { BY_NAMESPACE, BY_OWNER, type ObjectChange } from '../../informers/informer.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import type { DaemonJobDeps } from './daemonjob-deps.js';
import { hostKey, jobKey, orphanKey, parseDaemonJobKey } from './daemonjob-keys.js';
import { DaemonJobRuns, type JobRun } from './daemonjob-runs.js';
import { DaemonJobWrites } from './daemonjob-writes.js';

/** Counts alone are written at most this often. */
const STATUS_INTERVAL_MS = 500;

export class DaemonJobController {
  readonly #deps: DaemonJobDeps;
  readonly #worker: Worker;
  readonly #runs: DaemonJobRuns;
  readonly #writes: DaemonJobWrites;

  constructor(deps: DaemonJobDeps) {
    this.#deps = deps;
    this.#writes = new DaemonJobWrites(deps);
    this.#runs = new DaemonJobRuns(deps, (key) => this.#worker.queue.add(key));
    this.#worker = new Worker({
      name: 'daemonjob',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
      concurrency: 8,
    });
    const { daemonJobs, daemonJobResults, pods, nodes, rolloutPolicies } = deps.informers;
    daemonJobs.onChange(({ previous, current }) => this.#jobChanged(previous, current));
    pods.onChange((change) => this.#podChanged(change));
    nodes.onChange((change) => this.#nodeChanged(change));
    daemonJobResults.onChange(({ previous, current }) => {
      for (const result of [previous, current]) if (result) this.#runs.resultChanged(result);
      const job = this.#jobOf(current ?? previous);
      const nodeName = (current ?? previous)?.nodeName;
      // A stored result is news only if a user changed or deleted it.
      if (job && nodeName && previous) this.#worker.queue.add(hostKey(job, nodeName));
    });
    rolloutPolicies.onChange(({ previous, current }) => {
      const { namespace = '', name = '' } = (current ?? previous)?.metadata ?? {};
      for (const job of daemonJobs.indexed(BY_NAMESPACE, namespace))
        if (job.spec.rolloutPolicyName === name) this.#worker.queue.add(jobKey(job));
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Deadlines, back-offs and windows depend on the wall clock. */
  onClockStep(): void {
    for (const job of this.#deps.informers.daemonJobs.list()) {
      this.#runs.forget(job.metadata.uid ?? '');
      this.#worker.queue.add(jobKey(job));
    }
  }

  #jobOf(object: KubeObject | undefined): DaemonJob | undefined {
    const owner = object && controllerOf(object.metadata);
    const job = owner && this.#deps.informers.daemonJobs.byUid(owner.uid);
    return job && isOwnedBy(object, job) ? job : undefined;
  }

  #jobChanged(previous: DaemonJob | undefined, current: DaemonJob | undefined): void {
    const job = current ?? previous;
    if (!job) return;
    this.#worker.queue.add(jobKey(job));
    const { uid = '', deletionTimestamp } = job.metadata;
    // The hosts whose locks are overridden wait for this and for nothing else.
    if (previous && current && hasOtherOverride(previous, current)) this.#runs.forget(uid);
    if (current && !deletionTimestamp) return;
    this.#runs.remove(uid);
    for (const pod of this.#deps.informers.pods.indexed(BY_OWNER, uid))
      if (isTracked(pod)) this.#worker.queue.add(orphanKey(pod));
  }

  #podChanged({ previous, current }: ObjectChange<Pod>): void {
    const pod = current ?? previous;
    if (!pod) return;
    // Without its owner a Pod would keep the finalizer forever, and could not be deleted.
    if (current && isTracked(current) && !isWanted(this.#jobOf(current)))
      this.#worker.queue.add(orphanKey(current));
    // A Pod that loses its owner frees its host.
    const job = this.#jobOf(pod) ?? this.#jobOf(previous);
    const nodeName = targetNodeOf(pod);
    // Pods of a finished job that are counted change nothing.
    const isOver = job && daemonJobFinishedAs(job) && !isTracked(pod) && !(previous && isTracked(previous));
    if (isWanted(job) && nodeName && !isOver) this.#worker.queue.add(hostKey(job, nodeName));
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    const name = (current ?? previous)?.metadata.name;
    if (name === undefined) return;
    const matters = (node: Node) => [node.metadata.labels, node.spec?.taints, this.#runs.isOnline(node)];
    if (previous && current && isDeepStrictEqual(matters(previous), matters(current))) return;
    for (const job of this.#deps.informers.daemonJobs.list())
      if (!daemonJobFinishedAs(job)) this.#worker.queue.add(hostKey(job, name));
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const parsed = parseDaemonJobKey(key);
    if (parsed.kind === 'orphan') {
      const pod = this.#deps.informers.pods.get(parsed.ref);
      if (pod && !isWanted(this.#jobOf(pod))) await this.#writes.release(pod, context);
      return;
    }
    const job = this.#deps.informers.daemonJobs.get(parsed.ref);
    if (!isWanted(job)) return;
    if (parsed.kind === 'job') await this.#reconcileJob(job, context);
    else await this.#reconcileHost(job, parsed.nodeName, context);
  }

  async #reconcileJob(job: DaemonJob, context: ReconcileContext): Promise<void> {
    const { clock } = this.#deps;
    const now = clock.now();
    if (this.#runs.isSettled(job)) return;
    const run = this.#runs.of(job);
    const { tally, windows, waves, policy } = run;
    for (const name of windows?.advance(now) ?? []) this.#worker.queue.add(hostKey(job, name));
    if (windows?.next !== undefined) context.requeueAfter(Math.max(1, windows.next - now));
    if (!tally.isComplete) return;
    const verdict = policy && waves ? judgeWaves(job, policy.spec, tally.waves, now) : undefined;
    const step = daemonJobStep(job, tally.counts, tally.granted, now, verdict);
    const opened = verdict ? this.#runs.openWaves(run, verdict.openUpTo) : [];
    for (const name of opened) this.#worker.queue.add(hostKey(job, name));
    const revisited = tally.endWith(runEnd({ ...job, status: step.status }, now));
    for (const name of revisited) this.#worker.queue.add(hostKey(job, name));
    if (revisited.length === 0)
      for (const name of tally.grant(step.slots)) this.#worker.queue.add(hostKey(job, name));
    if (step.requeueAfterMs !== undefined) context.requeueAfter(step.requeueAfterMs);
    await this.#storeStatus(job, run, step, context);
    if (step.isExpired) await this.#writes.removeJob(job, context);
  }

  /** Counts are debounced. Conditions and times are stored at once. */
  async #storeStatus(
    job: DaemonJob,
    run: JobRun,
    step: DaemonJobStep,
    context: ReconcileContext,
  ): Promise<void> {
    if (isDeepStrictEqual(step.status, job.status ?? {})) return;
    const now = this.#deps.clock.monotonic();
    const urgent = ({ conditions, startTime, run: number, rollout }: DaemonJobStatus) => {
      return [conditions, startTime, number, rollout?.phase, rollout?.wave, rollout?.soakingSince];
    };
    const isUrgent = !isDeepStrictEqual(urgent(job.status ?? {}), urgent(step.status));
    const restMs = run.statusAt + STATUS_INTERVAL_MS - now;
    if (!isUrgent && restMs > 0) {
      context.requeueAfter(restMs);
      return;
    }
    run.statusAt = now;
    await this.#writes.storeStatus(job, step, context);
  }

  async #reconcileHost(job: DaemonJob, nodeName: string, context: ReconcileContext): Promise<void> {
    const run = this.#runs.of(job);
    const step = hostStep(this.#runs.viewOf(job, run, nodeName), this.#deps.clock.now());
    if (step.outcome) {
      await this.#storeResult(job, run, step.outcome, context);
      return;
    }
    if (run.tally.record(nodeName, step.state.kind)) this.#worker.queue.add(jobKey(job));
    if ('forMs' in step.state && step.state.forMs !== undefined) context.requeueAfter(step.state.forMs);
    for (const pod of step.release) await this.#writes.release(pod, context);
    for (const pod of step.reschedule) await this.#writes.reschedule(pod, step.rules, context);
    for (const pod of step.remove) await this.#writes.remove(job, pod, context);
    if (step.state.kind === 'Ready' && run.tally.isGranted(nodeName))
      await this.#create(job, run, nodeName, step, context);
    run.gate.wakeWaiting();
  }

  /** A host whose result is refused waits with back-off. It keeps neither a slot nor the other hosts from starting. */
  async #storeResult(
    job: DaemonJob,
    { tally, gate }: JobRun,
    outcome: HostOutcome,
    context: ReconcileContext,
  ): Promise<void> {
    const { nodeName } = outcome;
    try {
      await this.#writes.storeResult(job, this.#runs.resultOf(job, nodeName), outcome, context);
      // What follows is decided from the stored result.
      context.requeueAfter(0);
    } catch (error) {
      if (tally.record(nodeName, 'Waiting')) this.#worker.queue.add(jobKey(job));
      gate.wakeWaiting();
      const occupant = this.#runs.foreignResult(job, nodeName);
      if (isAlreadyExists(error) && occupant && !this.#jobOf(occupant))
        await this.#writes.removeResult(occupant, context);
      else this.#writes.reportRefusedResult(job, nodeName, error);
      throw error;
    }
  }

  async #create(
    job: DaemonJob,
    { gate }: JobRun,
    nodeName: string,
    { attempt, rules }: HostStep,
    context: ReconcileContext,
  ): Promise<void> {
    const key = hostKey(job, nodeName);
    if (!gate.tryEnter(key)) return;
    try {
      await this.#writes.create(job, daemonJobPod(job, nodeName, attempt, rules), context);
      gate.created();
    } catch (error) {
      gate.refused(key);
      this.#deps.log.warn({ key, err: error }, 'the Pod of a DaemonJob was refused, will retry');
    }
  }
}

/** False for a job that is deleted or is being deleted: nothing of it is counted any more. */
function isWanted(job: DaemonJob | undefined): job is DaemonJob {
  return job !== undefined && !job.metadata.deletionTimestamp;
}
