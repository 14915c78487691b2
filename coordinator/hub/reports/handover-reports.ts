/** Stores the handovers that hosts have carried out: a successor replaces its predecessor. */
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import { ApiError, isGone } from '../../../shared/kube/objects/api-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { HandedOverPod } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import { withoutTemplateGeneration } from '../restore/returned-pods.js';

export interface HandoverReportsDeps {
  registry: Registry;
  informers: Informers;
  signer: ObjectSigner;
  clock: Clock;
  log: Logger;
}

/** `refused`: the host has to remove the successor. */
type TurnVerdict = 'taken' | 'refused';

export class HandoverReports {
  readonly #deps: HandoverReportsDeps;

  constructor(deps: HandoverReportsDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the informers show the successor. Rejects when the store fails; the host reports the handover again.
   */
  async apply(node: string, reported: HandedOverPod): Promise<TurnVerdict> {
    const { informers, log } = this.#deps;
    const handover = this.#open(node, reported);
    if (!handover) {
      log.warn({ node, uid: reported.uid }, 'handover not issued for this host: its Pod is withdrawn');
      return 'refused';
    }
    const { old, successor } = handover;
    const present = informers.pods.byUid(old.metadata.uid ?? '');
    const isKnown = informers.pods.byUid(reported.uid) !== undefined;
    // The DaemonSet or the node was deleted in the meantime.
    if (!present && !isKnown) return 'refused';
    const store = async () => (isKnown ? 0 : this.#store(node, withOwnersOf(present ?? old, successor)));
    // Mark the predecessor deleted before storing the successor. Otherwise the node would have two live Pods after a
    // crash. A predecessor that has ended is removed at once by the deletion. Store its successor first then; otherwise
    // the DaemonSet would create another Pod and treat the successor as surplus.
    const isOver = present !== undefined && isPodTerminal(present);
    const storedFirst = isOver ? await store() : 0;
    const marked = present ? await this.#markDeleted(present) : 0;
    const stored = isOver ? storedFirst : await store();
    await informers.waitFor(Math.max(marked, stored ?? 0));
    return stored === undefined ? 'refused' : 'taken';
  }

  /**
   * Returns the Pod that this host received, and the successor in its handover. Undefined if the MAC does not match.
   */
  #open(node: string, { uid, predecessor }: HandedOverPod): { old: Pod; successor: Pod } | undefined {
    const { object, mac } = predecessor;
    if (!object || !mac) return undefined;
    if (!this.#deps.signer.verify(node, { uid: predecessor.uid, object }, mac)) return undefined;
    const old = JSON.parse(Buffer.from(object).toString()) as Pod;
    const successor = handoverOf(old)?.successor;
    return successor?.metadata.uid === uid ? { old, successor } : undefined;
  }

  /** Returns the revision of the write, or 0. */
  async #markDeleted(pod: Pod): Promise<number> {
    const { uid = '', deletionTimestamp } = pod.metadata;
    if (deletionTimestamp) return 0;
    // With a grace period of 0 the Pod would be removed before its successor is stored.
    const grace = pod.spec.terminationGracePeriodSeconds === 0 ? { gracePeriodSeconds: 1 } : {};
    try {
      const result = await this.#deps.registry.delete(podKind, pod.metadata, {
        ...grace,
        preconditions: { uid },
      });
      const { resourceVersion } = result.object.metadata;
      return Number(resourceVersion ?? 0);
    } catch (error) {
      if (isGone(error)) return 0;
      throw error;
    }
  }

  /** Stores the successor with the current time as its creation time. Returns undefined if the API refuses it. */
  async #store(node: string, successor: Pod): Promise<number | undefined> {
    const { registry, signer, clock, log } = this.#deps;
    const creationTimestamp = toTimestamp(clock.now());
    // The handover may come from a coordinator that was replaced by a backup.
    const made = signer.isRestored ? withoutTemplateGeneration(successor) : successor;
    const pod = { ...made, metadata: { ...made.metadata, creationTimestamp } };
    const { uid, namespace, name } = pod.metadata;
    try {
      const { revision } = await registry.restoreObject(podKind, pod);
      log.info({ node, uid, namespace, name }, 'handover stored');
      return revision;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500) throw error;
      log.warn({ node, uid, namespace, name, err: error }, 'Pod of a handover refused');
      return undefined;
    }
  }
}

/** Takes the current owners of the old Pod. It may have been orphaned or adopted since the handover was sent. */
function withOwnersOf({ metadata: { ownerReferences } }: Pod, successor: Pod): Pod {
  const { ownerReferences: _, ...metadata } = successor.metadata;
  return { ...successor, metadata: { ...metadata, ...(ownerReferences && { ownerReferences }) } };
}
