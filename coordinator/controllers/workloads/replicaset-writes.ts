/** The writes of a Deployment to its ReplicaSets: sizes, annotations, deletions. */
import { isGone, unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Deployment, ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';
import { type Resize, sizeOf } from '../../decisions/workloads/deployment-replicas.js';
import { replicaSetsToTrim, scaleAnnotations } from '../../decisions/workloads/deployment-revisions.js';
import { replicaSetKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { WorkloadDeps } from './workload-deps.js';

/** The Deployment that writes, in one reconcile. */
interface Write {
  deployment: Deployment;
  context: ReconcileContext;
}

export class ReplicaSetWrites {
  readonly #deps: WorkloadDeps;

  constructor(deps: WorkloadDeps) {
    this.#deps = deps;
  }

  /** Returns true if something was written, as the other methods do. */
  async resize({ deployment, context }: Write, resizes: readonly Resize[]): Promise<boolean> {
    const { recordEvent } = this.#deps;
    for (const { replicaSet, replicas } of resizes) {
      const before = sizeOf(replicaSet);
      await this.modify(replicaSet, context, (stored) => {
        stored.spec.replicas = replicas;
        stored.metadata.annotations = { ...stored.metadata.annotations, ...scaleAnnotations(deployment) };
      });
      const direction = replicas > before ? 'up' : 'down';
      const text = `Scaled ${direction} replica set ${replicaSet.metadata.name} from ${before} to ${replicas}`;
      recordEvent(deployment, 'Normal', 'ScalingReplicaSet', text);
    }
    return resizes.length > 0;
  }

  /** Notes the new `spec.replicas` on ReplicaSets that keep their size, so that it counts as applied. */
  async noteScale({ deployment, context }: Write, all: readonly ReplicaSet[]): Promise<boolean> {
    const annotations = scaleAnnotations(deployment);
    const isNoted = (one: ReplicaSet) =>
      Object.entries(annotations).every(([key, value]) => one.metadata.annotations?.[key] === value);
    const outdated = all.filter((one) => sizeOf(one) > 0 && !isNoted(one));
    for (const one of outdated) {
      await this.modify(one, context, (stored) => {
        stored.metadata.annotations = { ...stored.metadata.annotations, ...annotations };
      });
    }
    return outdated.length > 0;
  }

  /** Deletes the old ReplicaSets beyond the history limit. */
  async trim({ deployment, context }: Write, old: readonly ReplicaSet[]): Promise<boolean> {
    const excess = replicaSetsToTrim(deployment, old);
    for (const { metadata } of excess) {
      await unlessGone(async () => {
        const options = { preconditions: preconditionsOf({ metadata } as KubeObject) };
        context.observeWrite((await this.#deps.registry.delete(replicaSetKind, metadata, options)).object);
      });
    }
    return excess.length > 0;
  }

  /** Does nothing if the ReplicaSet is deleted. */
  async modify(
    replicaSet: ReplicaSet,
    context: ReconcileContext,
    change: (stored: ReplicaSet) => void,
  ): Promise<void> {
    const { registry } = this.#deps;
    try {
      const record = await registry.modify(
        replicaSetKind,
        replicaSet.metadata,
        (stored) => {
          change(stored);
          return undefined;
        },
        { preconditions: preconditionsOf(replicaSet) },
      );
      context.observeWrite(record.object());
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}
