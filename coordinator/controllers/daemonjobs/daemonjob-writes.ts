/** All writes of the DaemonJob controller. Each is reported to the reconcile context. */
import { START_ANNOTATION, type StartRules } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  DAEMON_JOB_LABEL,
  DAEMON_JOB_TRACKING,
  type DaemonJob,
  type DaemonJobResult,
  ENDED_ANNOTATION,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { ApiError, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { resultName } from '../../decisions/daemonjobs/daemonjob-names.js';
import { daemonJobOwner } from '../../decisions/daemonjobs/daemonjob-pod.js';
import type { HostOutcome } from '../../decisions/daemonjobs/daemonjob-result.js';
import type { DaemonJobStep } from '../../decisions/daemonjobs/daemonjob-step.js';
import { daemonJobKind, daemonJobResultKind, podKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { storeStatus } from '../queue/store-status.js';
import type { DaemonJobDeps } from './daemonjob-deps.js';

export class DaemonJobWrites {
  readonly #deps: Pick<DaemonJobDeps, 'registry' | 'recordEvent'>;

  constructor(deps: Pick<DaemonJobDeps, 'registry' | 'recordEvent'>) {
    this.#deps = deps;
  }

  /** Replaces the result of a host, or creates it. Throws ApiError. */
  async storeResult(
    job: DaemonJob,
    stored: DaemonJobResult | undefined,
    outcome: HostOutcome,
    context: ReconcileContext,
  ): Promise<void> {
    const { registry } = this.#deps;
    const { namespace, name } = job.metadata;
    if (!stored) {
      const body: DaemonJobResult = {
        apiVersion: `${FLEET_GROUP}/v1`,
        kind: daemonJobResultKind.kind,
        metadata: {
          name: resultName(name, outcome.nodeName),
          ...(namespace && { namespace }),
          labels: { [DAEMON_JOB_LABEL]: name },
          ownerReferences: [daemonJobOwner(job)],
        },
        ...outcome,
      };
      const record = await registry.create<DaemonJobResult>(daemonJobResultKind, namespace, body);
      context.observeWrite(record.object());
      return;
    }
    await unlessGone(async () => {
      const record = await registry.modify(
        daemonJobResultKind,
        stored.metadata,
        (current) => {
          for (const key of ['exitCode', 'reason', 'startTime', 'completionTime', 'message'] as const)
            delete current[key];
          Object.assign(current, outcome);
          return undefined;
        },
        { preconditions: preconditionsOf(stored) },
      );
      context.observeWrite(record.object());
    });
  }

  /** An admission policy or a quota may refuse a result. Until it is stored, the job does not end. */
  reportRefusedResult(job: DaemonJob, nodeName: string, error: unknown): void {
    if (!(error instanceof ApiError) || error.reason === 'Conflict') return;
    const message = `Error storing the result of host ${nodeName}: ${error.message}`;
    this.#deps.recordEvent(job, 'Warning', 'FailedResult', message);
  }

  /** Deletes a result whose job is gone. It keeps the name that a job of the same name needs. */
  async removeResult(result: DaemonJobResult, context: ReconcileContext): Promise<void> {
    await unlessGone(async () => {
      const options = { preconditions: preconditionsOf(result) };
      const { object } = await this.#deps.registry.delete(daemonJobResultKind, result.metadata, options);
      context.observeWrite(object);
    });
  }

  /** Removes the finalizer of a counted Pod, and reports to its host that the Pod has ended. */
  async release(pod: Pod, context: ReconcileContext): Promise<void> {
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        podKind,
        pod.metadata,
        ({ metadata, status }) => {
          // The host has reported the end of a Pod that was counted without it. It is counted first.
          if (status?.phase === 'Succeeded' && pod.status?.phase !== 'Succeeded') return false;
          const rest = metadata.finalizers?.filter((one) => one !== DAEMON_JOB_TRACKING) ?? [];
          if (rest.length === (metadata.finalizers?.length ?? 0)) return false;
          if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
            metadata.annotations = { ...metadata.annotations, [ENDED_ANNOTATION]: status.phase };
          if (rest.length > 0) metadata.finalizers = rest;
          else delete metadata.finalizers;
          return undefined;
        },
        { preconditions: preconditionsOf(pod) },
      );
      context.observeWrite(record.object());
    });
  }

  /** Replaces the start rules of a Pod whose host has not started it. */
  async reschedule(pod: Pod, rules: StartRules | undefined, context: ReconcileContext): Promise<void> {
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        podKind,
        pod.metadata,
        ({ metadata }) => {
          metadata.annotations = { ...metadata.annotations, [START_ANNOTATION]: JSON.stringify(rules ?? {}) };
          return undefined;
        },
        { preconditions: preconditionsOf(pod) },
      );
      context.observeWrite(record.object());
    });
  }

  async remove(job: DaemonJob, pod: Pod, context: ReconcileContext): Promise<void> {
    await unlessGone(async () => {
      // Without a grace period the Pod would end before its host has confirmed that it did not start it.
      const grace = pod.spec.terminationGracePeriodSeconds === 0 ? { gracePeriodSeconds: 1 } : {};
      const options = { preconditions: preconditionsOf(pod), ...grace };
      const { object } = await this.#deps.registry.delete(podKind, pod.metadata, options);
      context.observeWrite(object);
      this.#deps.recordEvent(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    });
  }

  /** Throws ApiError, also if a Pod of this attempt exists. */
  async create(job: DaemonJob, pod: Pod, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const { namespace } = job.metadata;
    try {
      const record = await registry.create<Pod>(podKind, namespace, pod);
      context.observeWrite(record.object());
      const { name } = record.object().metadata;
      recordEvent(job, 'Normal', 'SuccessfulCreate', `Created pod: ${name}`);
    } catch (error) {
      if (!isNamespaceEnding(error)) {
        const text = error instanceof Error ? error.message : String(error);
        recordEvent(job, 'Warning', 'FailedCreate', `Error creating: ${text}`);
      }
      throw error;
    }
  }

  /** Writes nothing if the job has changed since: its change queues the key again. */
  async storeStatus(
    job: DaemonJob,
    { status, events }: DaemonJobStep,
    context: ReconcileContext,
  ): Promise<void> {
    if (!(await storeStatus(this.#deps.registry, daemonJobKind, job, status, context))) return;
    for (const { type, reason, message } of events) this.#deps.recordEvent(job, type, reason, message);
  }

  /** Deletes the job after its Pods and results. */
  async removeJob({ metadata }: DaemonJob, context: ReconcileContext): Promise<void> {
    const { uid = '', resourceVersion = '' } = metadata;
    await unlessGone(async () => {
      const options = { propagationPolicy: 'Foreground' as const, preconditions: { uid, resourceVersion } };
      context.observeWrite((await this.#deps.registry.delete(daemonJobKind, metadata, options)).object);
    });
  }
}
