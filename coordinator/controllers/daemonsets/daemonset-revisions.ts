/**
 * Writes a DaemonSet's ControllerRevisions: adopts them, creates the current one, and deletes those beyond the limit.
 */

import {
  type ControllerRevision,
  type DaemonSet,
  REVISION_HASH_LABEL,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  type RevisionHistory,
  revisionHistory,
  revisionsToTrim,
} from '../../decisions/daemonsets/revision-history.js';
import { revisionHashOf, revisionsWithTemplate } from '../../decisions/daemonsets/template-revision.js';
import { BY_NAMESPACE, BY_OWNER } from '../../informers/informer.js';
import { controllerRevisionKind, daemonSetKind, podKind } from '../../kinds/index.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { adopt, preconditionsOf, release } from './controller-ref.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { claimOf } from './daemonset-node-view.js';

/** Hash of the current template, and revisions of other templates. */
interface CurrentHistory {
  hash: string;
  old: ControllerRevision[];
}

type HistoryParts = Pick<DaemonSetDeps, 'registry' | 'informers'>;

/** Only the fleet reconciler calls it, so no two calls for one DaemonSet overlap. */
export class DaemonSetRevisions {
  readonly #deps: HistoryParts;

  constructor(deps: HistoryParts) {
    this.#deps = deps;
  }

  /**
   * Brings the revisions up to date. Throws ApiError Conflict after a name collision; the retry uses another name.
   * `relabelling` is called before Pods get another hash.
   */
  async sync(
    daemonSet: DaemonSet,
    context: ReconcileContext,
    relabelling: () => void,
  ): Promise<CurrentHistory> {
    const owned = await this.#claim(daemonSet, context);
    const { current, old } = revisionHistory(daemonSet, owned);
    if (current.kind === 'create') {
      const stored = await this.#create(daemonSet, current.revision, context);
      return { hash: revisionHashOf(stored), old };
    }
    await this.#keep(daemonSet, current, context, relabelling);
    return { hash: revisionHashOf(current.revision), old };
  }

  /** Deletes old revisions beyond the limit that are not in use. */
  async trim(
    daemonSet: DaemonSet,
    old: readonly ControllerRevision[],
    isInUse: (hash: string) => boolean,
    context: ReconcileContext,
  ): Promise<void> {
    const limit = daemonSet.spec.revisionHistoryLimit ?? 10;
    for (const revision of revisionsToTrim(old, limit, isInUse)) await this.#delete(revision, context);
  }

  async #claim(daemonSet: DaemonSet, context: ReconcileContext): Promise<ControllerRevision[]> {
    const { informers, registry } = this.#deps;
    const matcher = compileLabelSelector(daemonSet.spec.selector);
    const owned: ControllerRevision[] = [];
    const { namespace = '' } = daemonSet.metadata;
    for (const revision of informers.controllerRevisions.indexed(BY_NAMESPACE, namespace)) {
      const claim = claimOf(daemonSet, matcher, revision);
      if (claim === 'owned') owned.push(revision);
      if (claim === 'foreign' || claim === 'owned') continue;
      const take = claim === 'adopt' ? adopt : release;
      const stored = await take(
        registry,
        { kind: daemonSetKind, object: daemonSet },
        controllerRevisionKind,
        revision,
      );
      if (stored) context.observeWrite(stored);
      if (stored && claim === 'adopt') owned.push(stored);
    }
    return Promise.all(owned.map((revision) => this.#labelled(revision, context)));
  }

  /** A revision without a hash label gets its name as its hash. */
  async #labelled(revision: ControllerRevision, context: ReconcileContext): Promise<ControllerRevision> {
    if (revision.metadata.labels?.[REVISION_HASH_LABEL]) return revision;
    const change = ({ metadata }: ControllerRevision) => {
      metadata.labels = { ...metadata.labels, [REVISION_HASH_LABEL]: metadata.name };
      return undefined;
    };
    const { registry } = this.#deps;
    const stored = (await registry.modify(controllerRevisionKind, revision.metadata, change)).object();
    context.observeWrite(stored);
    return stored;
  }

  async #create(
    daemonSet: DaemonSet,
    revision: ControllerRevision,
    context: ReconcileContext,
  ): Promise<ControllerRevision> {
    const { registry } = this.#deps;
    const { namespace } = daemonSet.metadata;
    try {
      const stored = (await registry.create(controllerRevisionKind, namespace, revision)).object();
      context.observeWrite(stored);
      return stored;
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      const present = (await registry.get(controllerRevisionKind, revision.metadata)).object();
      if (revisionsWithTemplate([present], daemonSet.spec.template).length > 0) return present;
      await this.#countCollision(daemonSet, context);
      throw error;
    }
  }

  /** Another template has the name already. The collision count is part of the hash, so the retry gets another name. */
  async #countCollision(daemonSet: DaemonSet, context: ReconcileContext): Promise<void> {
    const change = (stored: DaemonSet): undefined | false => {
      if (!stored.status) return false;
      stored.status.collisionCount = (stored.status.collisionCount ?? 0) + 1;
      return undefined;
    };
    const options = { subresource: 'status' as const, preconditions: preconditionsOf(daemonSet) };
    const record = await this.#deps.registry.modify(daemonSetKind, daemonSet.metadata, change, options);
    context.observeWrite(record.object());
  }

  async #keep(
    daemonSet: DaemonSet,
    { revision, number, duplicates }: Extract<RevisionHistory['current'], { kind: 'keep' }>,
    context: ReconcileContext,
    relabelling: () => void,
  ): Promise<void> {
    if (duplicates.length > 0) {
      relabelling();
      await this.#relabelPods(daemonSet, revisionHashOf(revision), context);
      for (const duplicate of duplicates) await this.#delete(duplicate, context);
    }
    if (revision.revision >= number) return;
    const change = (stored: ControllerRevision) => {
      stored.revision = Math.max(stored.revision, number);
      return undefined;
    };
    const { registry } = this.#deps;
    context.observeWrite((await registry.modify(controllerRevisionKind, revision.metadata, change)).object());
  }

  async #relabelPods(daemonSet: DaemonSet, hash: string, context: ReconcileContext): Promise<void> {
    const { informers, registry } = this.#deps;
    for (const pod of informers.pods.indexed(BY_OWNER, daemonSet.metadata.uid ?? '')) {
      if (pod.metadata.labels?.[REVISION_HASH_LABEL] === hash) continue;
      const change = ({ metadata }: Pod) => {
        metadata.labels = { ...metadata.labels, [REVISION_HASH_LABEL]: hash };
        return undefined;
      };
      context.observeWrite((await registry.modify(podKind, pod.metadata, change)).object());
    }
  }

  async #delete(revision: ControllerRevision, context: ReconcileContext): Promise<void> {
    const options = { preconditions: preconditionsOf(revision) };
    const { registry } = this.#deps;
    const result = await orUndefined(() =>
      registry.delete(controllerRevisionKind, revision.metadata, options),
    );
    if (result) context.observeWrite(result.object);
  }
}
