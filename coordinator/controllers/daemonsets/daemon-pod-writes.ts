/** What is written for one DaemonSet on one node: Pods made and deleted, adopted and let go, turns given and taken back. */

import { type DaemonSet, REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PodDeletion } from '../../decisions/daemonsets/node-step.js';
import type { HandoverTerms } from '../../decisions/handovers/handover-terms.js';
import { podKind } from '../../kinds/index.js';
import type { HandoverCapacity } from '../handovers/handover-capacity.js';
import type { HandoverWrites } from '../handovers/handover-writes.js';
import { isGone } from '../queue/outdated-write.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { PinnedRevision } from '../rollouts/rollout-constraints.js';
import { adopt, preconditionsOf, release } from './controller-ref.js';
import { CreateGate, isNamespaceEnding } from './create-gate.js';
import type { DaemonPodTemplates } from './daemon-pod-templates.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { fleetKey, nodeKey } from './daemonset-keys.js';
import type { DaemonNodeView } from './daemonset-node-view.js';
import type { CountedDaemonSet } from './daemonset-tallies.js';
import type { DaemonSetTally } from './daemonset-tally.js';

/** Whom a write is for, and the look that waits for it. */
export interface NodeSubject {
  daemonSet: DaemonSet;
  tally: DaemonSetTally;
  counted: CountedDaemonSet;
  nodeName: string;
  context: ReconcileContext;
}

interface Makers {
  models: DaemonPodTemplates;
  hostHandovers: HandoverWrites;
  room: HandoverCapacity;
}

/** Each write tells the key what it wrote, and records its event. What another has overtaken is left out in silence. */
export class DaemonPodWrites {
  readonly #parts: DaemonSetDeps;
  readonly #models: DaemonPodTemplates;
  readonly #hostHandovers: HandoverWrites;
  readonly #room: HandoverCapacity;
  readonly #wakeNode: (nodeKey: string) => void;
  /** By uid of the DaemonSet; only those whose creates were asked for. `hash`: of the revision that it was made for. */
  readonly #gates = new Map<string, { hash: string; gate: CreateGate }>();

  constructor(
    parts: DaemonSetDeps,
    { models, hostHandovers, room }: Makers,
    wakeNode: (nodeKey: string) => void,
  ) {
    this.#parts = parts;
    this.#models = models;
    this.#hostHandovers = hostHandovers;
    this.#room = room;
    this.#wakeNode = wakeNode;
  }

  /** Forgets what is kept in memory of a DaemonSet that is gone. */
  forget(uid: string): void {
    this.#gates.delete(uid);
    this.#parts.refusals.forget(uid);
  }

  /** Wakes keys whose creates were held back. To be called whenever one was looked at. */
  wakeWaiting(uid: string): void {
    this.#gates.get(uid)?.gate.wakeWaiting();
  }

  /** The key is kept until the write is seen, and then looks again. */
  #wrote({ context: turn }: NodeSubject, object: KubeObject): void {
    turn.observeWrite(object);
    turn.requeueAfter(0);
  }

  /** Adopts and lets go. Throws ApiError. */
  async claim(subject: NodeSubject, claims: DaemonNodeView['claims']): Promise<void> {
    const { registry } = this.#parts;
    for (const { pod, claim } of claims) {
      const take = claim === 'adopt' ? adopt : release;
      try {
        const stored = await take(registry, subject.daemonSet, podKind, pod);
        if (stored) this.#wrote(subject, stored);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }

  /** Why a Pod goes that has ended. */
  recordDeletionReason({ daemonSet, nodeName }: NodeSubject, { name, reason }: PodDeletion): void {
    const pod = `${daemonSet.metadata.namespace}/${name}`;
    if (reason === 'failed') {
      const text = `Found failed daemon pod ${pod} on node ${nodeName}, will try to kill it`;
      this.#parts.recordEvent(daemonSet, 'Warning', 'FailedDaemonPod', text);
    } else if (reason === 'succeeded') {
      const text = `Found succeeded daemon pod ${pod} on node ${nodeName}, will try to delete it`;
      this.#parts.recordEvent(daemonSet, 'Normal', 'SucceededDaemonPod', text);
    }
  }

  /** `asSeen`: only if nothing of it has changed since. Throws ApiError. */
  async delete(subject: NodeSubject, name: string, asSeen = false): Promise<void> {
    const { daemonSet } = subject;
    const { registry, recordEvent } = this.#parts;
    const pod = this.#podNamed(daemonSet, name);
    if (!pod) return;
    const { resourceVersion } = pod.metadata;
    const preconditions = { ...preconditionsOf(pod), ...(asSeen && resourceVersion && { resourceVersion }) };
    try {
      const result = await registry.delete(podKind, pod.metadata, { preconditions });
      this.#wrote(subject, 'deleted' in result ? result.deleted : result.terminating);
      recordEvent(daemonSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isGone(error)) return;
      recordEvent(daemonSet, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
      throw error;
    }
  }

  /**
   * Has the host replace the Pod by itself, if it has room for both. A refused successor is retried with the back-off of a
   * refused create; otherwise the fleet's key would repeat the turn in a tight loop.
   */
  async requestHandover(subject: NodeSubject, name: string, terms: HandoverTerms): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const old = this.#podNamed(daemonSet, name);
    if (!old) return;
    const { uid, current } = tally.subject;
    const key = nodeKey(daemonSet, nodeName);
    const gate = this.#gateOf(tally);
    if (!gate.tryEnter(key)) return;
    try {
      if (this.#hasNoRoom(subject, old)) {
        gate.cancelled();
        return;
      }
      const given = await this.#hostHandovers.request({ daemonSet, hash: current.hash }, old, terms);
      gate.created();
      this.#parts.refusals.accepted(uid, current.hash);
      this.#wrote(subject, given);
      const text = `Gave node ${nodeName} its turn to replace pod: ${name}`;
      this.#parts.recordEvent(daemonSet, 'Normal', 'HandoverRequested', text);
    } catch (error) {
      if (isGone(error)) gate.cancelled();
      else this.#refused(subject, gate, current.hash, error);
    }
  }

  #hasNoRoom({ daemonSet, nodeName, tally, context: turn }: NodeSubject, old: Pod): boolean {
    const { hash } = tally.subject.current;
    // A turn to the same revision that stands there has its room already.
    const isGiven = handoverOf(old)?.successor.metadata.labels?.[REVISION_HASH_LABEL] === hash;
    const refusals = isGiven ? [] : this.#room.refusals(daemonSet, tally, old);
    if (refusals.length === 0) return false;
    tally.lackingCapacitySince.set(nodeName, this.#parts.clock.now());
    const text = `failed to place pod on "${nodeName}": ${refusals.join(', ')}`;
    this.#parts.recordEvent(daemonSet, 'Warning', 'FailedPlacement', text);
    turn.requeueAfter(0);
    return true;
  }

  /** Takes back the turn that stands on the Pod, or clears away what is left of it. Throws ApiError. */
  async endHandover(subject: NodeSubject, name: string, how: 'withdraw' | 'settle'): Promise<void> {
    if (subject.tally.lackingCapacitySince.delete(subject.nodeName)) {
      subject.context.requeueAfter(0);
      return;
    }
    const old = this.#podNamed(subject.daemonSet, name);
    if (!old) return;
    try {
      this.#wrote(subject, await this.#hostHandovers[how](old));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  #podNamed({ metadata: { namespace } }: DaemonSet, name: string): Pod | undefined {
    return this.#parts.informers.pods.get({ ...(namespace ? { namespace } : {}), name });
  }

  /** Makes the node's Pod, when creates of the DaemonSet are not held back. */
  async create(subject: NodeSubject): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const key = nodeKey(daemonSet, nodeName);
    const gate = this.#gateOf(tally);
    if (!gate.tryEnter(key)) return;
    const { recordEvent, refusals } = this.#parts;
    const { uid } = tally.subject;
    const made = this.#revisionFor(subject);
    try {
      const created = await this.#writePod(subject, made);
      gate.created();
      refusals.accepted(uid, made.hash);
      this.#wrote(subject, created);
      recordEvent(daemonSet, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      this.#refused(subject, gate, made.hash, error);
    }
  }

  /** The API refused a Pod of revision `hash`: the key is woken when it may try again. */
  #refused(
    { daemonSet, nodeName, tally }: NodeSubject,
    gate: CreateGate,
    hash: string,
    error: unknown,
  ): void {
    const { refusals, recordEvent, clock, log } = this.#parts;
    gate.refused(nodeKey(daemonSet, nodeName));
    refusals.refused(tally.subject.uid, hash, textOf(error), clock.now());
    if (isNamespaceEnding(error)) return;
    recordEvent(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
    log.warn({ err: error, node: nodeName, daemonSet: fleetKey(daemonSet) }, 'could not create a Pod');
  }

  /** The revision that a new Pod of the node is to have. */
  #revisionFor({ daemonSet, nodeName, tally, counted }: NodeSubject): PinnedRevision {
    return counted.constraints.pinnedRevision(nodeName) ?? { daemonSet, hash: tally.subject.current.hash };
  }

  /** Bound by the same write when there is room, else left to the scheduler. */
  async #writePod({ daemonSet, nodeName }: NodeSubject, made: PinnedRevision): Promise<Pod> {
    const { registry, reservations } = this.#parts;
    const pod = this.#models.pod(made.daemonSet, nodeName, made.hash);
    const reservation = pod.spec.nodeName ? undefined : reservations.tryReserve(pod, nodeName);
    if (reservation?.bound) pod.spec.nodeName = nodeName;
    let written: Pod | undefined;
    try {
      const record = reservation?.bound
        ? await registry.createFromTemplate(this.#models.templateFor(daemonSet, pod), nodeName)
        : await registry.create(podKind, daemonSet.metadata.namespace, pod);
      written = record.object();
      return written;
    } finally {
      if (reservation?.bound) reservation.settle(written);
    }
  }

  /** Another template gets a gate of its own: refusals of the last one may hold creates back for up to 17 minutes. */
  #gateOf({ subject: { uid, current } }: DaemonSetTally): CreateGate {
    const present = this.#gates.get(uid);
    if (present?.hash === current.hash) return present.gate;
    if (present) this.#parts.refusals.forget(uid);
    const gate = new CreateGate(this.#parts.clock, (key) => this.#wakeNode(key));
    this.#gates.set(uid, { hash: current.hash, gate });
    return gate;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
