/** Rolls out a Deployment's template over its ReplicaSets (pkg/controller/deployment). */
import { isDeepStrictEqual } from 'node:util';
import { ApiError, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal } from '../../../shared/kube/pods/pod-types.js';
import {
  type Deployment,
  type DeploymentStatus,
  REVISION_ANNOTATION,
  type ReplicaSet,
} from '../../../shared/kube/workloads/workload-types.js';
import {
  areObserved,
  currentSize,
  type ReplicaSets,
  scaled,
  shrinkOld,
  sizeOf,
  wasScaled,
} from '../../decisions/workloads/deployment-replicas.js';
import {
  isSameTemplate,
  newReplicaSet,
  nextRevision,
  revisionAnnotations,
  splitReplicaSets,
} from '../../decisions/workloads/deployment-revisions.js';
import {
  deploymentStatus,
  isComplete,
  progressDeadline,
  replicaSetNews,
} from '../../decisions/workloads/deployment-status.js';
import { BY_OWNER } from '../../informers/informer.js';
import { deploymentKind, replicaSetKind } from '../../kinds/index.js';
import { controllerReference, preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { splitKey } from '../queue/object-key.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { claimObjects } from './claimed-objects.js';
import { ReplicaSetWrites } from './replicaset-writes.js';
import { statusTime, textOf, type WorkloadDeps } from './workload-deps.js';

/** A Deployment with its ReplicaSets in one reconcile. */
interface Subject {
  deployment: Deployment;
  replicaSets: ReplicaSets;
  context: ReconcileContext;
}

/** Delay after a progress deadline, so that the clock has passed it (requeueStuckDeployment). */
const AFTER_DEADLINE_MS = 1_000;

/**
 * One kind of write for each reconcile: the key is queued again and decides from the caches, which show the write by
 * then. A coordinator that ends between two writes repeats no write.
 */
export class DeploymentReconciler {
  readonly #deps: WorkloadDeps;
  readonly #writes: ReplicaSetWrites;

  constructor(deps: WorkloadDeps) {
    this.#deps = deps;
    this.#writes = new ReplicaSetWrites(deps);
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    const deployment = this.#deps.informers.deployments.get(splitKey(key));
    if (!deployment) return;
    const candidates = { kind: replicaSetKind, informer: this.#deps.informers.replicaSets };
    const owner = { kind: deploymentKind, object: deployment };
    const owned = await claimObjects(this.#deps, owner, candidates, context);
    const subject = { deployment, replicaSets: splitReplicaSets(deployment, owned), context };
    if (!deployment.metadata.deletionTimestamp && (await this.#act(subject))) {
      context.requeueAfter(0);
      return;
    }
    await this.#writeStatus(
      subject,
      deploymentStatus(deployment, subject.replicaSets, statusTime(this.#deps)),
    );
  }

  /** Returns true if something was written. */
  async #act(subject: Subject): Promise<boolean> {
    const { deployment, replicaSets } = subject;
    const { current, old } = replicaSets;
    const all = current ? [current, ...old] : old;
    if (current && !deployment.spec.paused && (await this.#syncCurrent(subject, current))) return true;
    if (!areObserved(all)) return false;
    if (deployment.spec.paused || wasScaled(deployment, all)) {
      if (await this.#writes.resize(subject, scaled(deployment, replicaSets))) return true;
      if (await this.#writes.noteScale(subject, all)) return true;
      if (deployment.spec.paused) return this.#writes.trim(subject, old);
    }
    if (deployment.spec.strategy?.type === 'Recreate') {
      const ends = old.filter((one) => sizeOf(one) > 0).map((replicaSet) => ({ replicaSet, replicas: 0 }));
      if (await this.#writes.resize(subject, ends)) return true;
      if (this.#hasOldPods(old)) return false;
    }
    if (!current) return this.#create(subject);
    const replicas = currentSize(deployment, replicaSets);
    if (replicas !== sizeOf(current))
      return this.#writes.resize(subject, [{ replicaSet: current, replicas }]);
    if (await this.#writes.resize(subject, shrinkOld(deployment, replicaSets))) return true;
    const status = deploymentStatus(deployment, replicaSets, statusTime(this.#deps));
    return isComplete(deployment, status) && this.#writes.trim(subject, old);
  }

  /** Recreate waits until the Pods of old templates are gone (oldPodsRunning). */
  #hasOldPods(old: readonly ReplicaSet[]): boolean {
    const { pods } = this.#deps.informers;
    return old.some(({ metadata }) =>
      pods.indexed(BY_OWNER, metadata.uid ?? '').some((pod) => !isPodTerminal(pod)),
    );
  }

  /** Gives the current ReplicaSet its revision, and the Deployment the same one. */
  async #syncCurrent({ deployment, replicaSets, context }: Subject, current: ReplicaSet): Promise<boolean> {
    const annotations = revisionAnnotations(deployment, current, nextRevision(replicaSets.old));
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
    const isSame =
      isDeepStrictEqual(annotations, current.metadata.annotations ?? {}) &&
      minReadySeconds === (current.spec.minReadySeconds ?? 0);
    if (!isSame) {
      await this.#writes.modify(current, context, (stored) => {
        stored.metadata.annotations = { ...stored.metadata.annotations, ...annotations };
        if (minReadySeconds > 0) stored.spec.minReadySeconds = minReadySeconds;
        else delete stored.spec.minReadySeconds;
      });
      return true;
    }
    const revision = annotations[REVISION_ANNOTATION];
    if (revision === undefined || deployment.metadata.annotations?.[REVISION_ANNOTATION] === revision) {
      return this.#noteFound({ deployment, replicaSets, context }, current);
    }
    await unlessGone(async () => {
      const change = (stored: Deployment): undefined => {
        stored.metadata.annotations = { ...stored.metadata.annotations, [REVISION_ANNOTATION]: revision };
        return undefined;
      };
      const options = { preconditions: preconditionsOf(deployment) };
      const record = await this.#deps.registry.modify(deploymentKind, deployment.metadata, change, options);
      context.observeWrite(record.object());
    });
    return true;
  }

  /** Writes the first condition Progressing, from which the deadline counts. */
  async #noteFound(subject: Subject, current: ReplicaSet): Promise<boolean> {
    const { deployment, replicaSets } = subject;
    if (deployment.status?.conditions?.some(({ type }) => type === 'Progressing')) return false;
    const news = replicaSetNews('found', current.metadata.name);
    return this.#writeStatus(
      subject,
      deploymentStatus(deployment, replicaSets, statusTime(this.#deps), news),
    );
  }

  async #create(subject: Subject): Promise<boolean> {
    const { deployment, replicaSets, context } = subject;
    const { registry, recordEvent } = this.#deps;
    const owner = controllerReference({ kind: deploymentKind, object: deployment });
    const replicas = currentSize(deployment, replicaSets);
    const wanted = newReplicaSet(deployment, owner, nextRevision(replicaSets.old), replicas);
    const { name } = wanted.metadata;
    let created: ReplicaSet;
    try {
      created = (
        await registry.create(replicaSetKind, deployment.metadata.namespace, structuredClone(wanted))
      ).object();
    } catch (error) {
      return this.#notCreated(subject, name, error);
    }
    context.observeWrite(created);
    if (replicas > 0) {
      recordEvent(
        deployment,
        'Normal',
        'ScalingReplicaSet',
        `Scaled up replica set ${name} from 0 to ${replicas}`,
      );
    }
    const news = replicaSetNews('created', name);
    const next = { current: created, old: replicaSets.old };
    await this.#writeStatus(subject, deploymentStatus(deployment, next, statusTime(this.#deps), news));
    return true;
  }

  /** A foreign ReplicaSet of that name makes the next hash another one (collisionCount). */
  async #notCreated(subject: Subject, name: string, error: unknown): Promise<boolean> {
    const { deployment, replicaSets } = subject;
    if (isNamespaceEnding(error)) return false;
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') {
      const news = replicaSetNews({ error: textOf(error) }, name);
      await this.#writeStatus(
        subject,
        deploymentStatus(deployment, replicaSets, statusTime(this.#deps), news),
      );
      this.#deps.recordEvent(deployment, 'Warning', 'ReplicaSetCreateError', news.message ?? '');
      throw error;
    }
    const ref = { ...deployment.metadata, name };
    const found = (await this.#deps.registry.get(replicaSetKind, ref)).object();
    const isOwn = controllerOf(found.metadata)?.uid === deployment.metadata.uid;
    if (isOwn && isSameTemplate(found.spec.template, deployment.spec.template)) {
      subject.context.observeWrite(found);
      return true;
    }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    return this.#writeStatus(subject, { ...deployment.status, collisionCount });
  }

  /** Returns true if the status was different. */
  async #writeStatus({ deployment, context }: Subject, next: DeploymentStatus): Promise<boolean> {
    const deadline = progressDeadline(deployment, next.conditions ?? []);
    if (deadline !== undefined) {
      context.requeueAfter(Math.max(0, deadline - this.#deps.clock.now()) + AFTER_DEADLINE_MS);
    }
    if (isDeepStrictEqual(deployment.status, next)) return false;
    await unlessGone(async () => {
      const { registry } = this.#deps;
      const preconditions = preconditionsOf(deployment);
      const record = await registry.writeStatus(
        deploymentKind,
        deployment.metadata,
        () => next,
        preconditions,
      );
      context.observeWrite(record.object());
    });
    return true;
  }
}
