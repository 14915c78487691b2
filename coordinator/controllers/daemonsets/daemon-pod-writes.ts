/** All writes for one DaemonSet on one node: Pods and their owners, and handovers. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import { isGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { rolloutRevision } from '../../decisions/daemonsets/daemon-node.js';
import type { PodDeletion } from '../../decisions/daemonsets/node-step.js';
import type { HandoverTerms } from '../../decisions/handovers/handover-terms.js';
import { daemonSetKind, podKind } from '../../kinds/index.js';
import type { HandoverCapacity } from '../handovers/handover-capacity.js';
import type { HandoverWrites } from '../handovers/handover-writes.js';
import { fleetSettings } from '../host-values/node-template.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { PinnedRevision } from '../rollouts/rollout-constraints.js';
import { adopt, preconditionsOf, release } from './controller-ref.js';
import { CreateGate, isNamespaceEnding } from './create-gate.js';
import { type DaemonPodTemplates, valuesTextOf } from './daemon-pod-templates.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { fleetKey, nodeKey } from './daemonset-keys.js';
import type { DaemonNodeView } from './daemonset-node-view.js';
import type { CountedDaemonSet } from './daemonset-tallies.js';
import type { DaemonSetTally } from './daemonset-tally.js';

/** The node and DaemonSet of a write, and the reconcile that makes it. */
export interface NodeSubject {
  daemonSet: DaemonSet;
  tally: DaemonSetTally;
  counted: CountedDaemonSet;
  nodeName: string;
  context: ReconcileContext;
}

interface WriteDeps {
  templates: DaemonPodTemplates;
  hostHandovers: HandoverWrites;
  capacity: HandoverCapacity;
}

/** Each write is reported to the reconcile context and recorded as an Event. A write that lost a race is dropped. */
export class DaemonPodWrites {
  readonly #deps: DaemonSetDeps;
  readonly #templates: DaemonPodTemplates;
  readonly #hostHandovers: HandoverWrites;
  readonly #capacity: HandoverCapacity;
  readonly #wakeNode: (nodeKey: string) => void;
  /** By uid of the DaemonSet. `revision`: the template and the fleet's settings for which the gate was made. */
  readonly #gates = new Map<string, { revision: string; gate: CreateGate }>();

  constructor(
    deps: DaemonSetDeps,
    { templates, hostHandovers, capacity }: WriteDeps,
    wakeNode: (nodeKey: string) => void,
  ) {
    this.#deps = deps;
    this.#templates = templates;
    this.#hostHandovers = hostHandovers;
    this.#capacity = capacity;
    this.#wakeNode = wakeNode;
  }

  /** Forgets a deleted DaemonSet. */
  forget(uid: string): void {
    this.#gates.delete(uid);
    this.#deps.refusals.forget(uid);
  }

  /** Wakes keys whose creates were delayed. Call it after each reconcile. */
  wakeWaiting(uid: string): void {
    this.#gates.get(uid)?.gate.wakeWaiting();
  }

  /** Requeues the key, which stays blocked until the informers show the write. */
  #wrote({ context }: NodeSubject, object: KubeObject): void {
    context.observeWrite(object);
    context.requeueAfter(0);
  }

  /** Adopts and releases Pods. Throws ApiError. */
  async claim(subject: NodeSubject, claims: DaemonNodeView['claims']): Promise<void> {
    const { registry } = this.#deps;
    for (const { pod, claim } of claims) {
      const take = claim === 'adopt' ? adopt : release;
      try {
        const stored = await take(registry, { kind: daemonSetKind, object: subject.daemonSet }, podKind, pod);
        if (stored) this.#wrote(subject, stored);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }

  /** Records an Event for a Pod that is deleted because it has ended. */
  recordDeletionReason({ daemonSet, nodeName }: NodeSubject, { name, reason }: PodDeletion): void {
    const pod = `${daemonSet.metadata.namespace}/${name}`;
    if (reason === 'failed') {
      const text = `Found failed daemon pod ${pod} on node ${nodeName}, will try to kill it`;
      this.#deps.recordEvent(daemonSet, 'Warning', 'FailedDaemonPod', text);
    } else if (reason === 'succeeded') {
      const text = `Found succeeded daemon pod ${pod} on node ${nodeName}, will try to delete it`;
      this.#deps.recordEvent(daemonSet, 'Normal', 'SucceededDaemonPod', text);
    }
  }

  /** `asSeen`: only if the Pod has not changed since. Throws ApiError. */
  async delete(subject: NodeSubject, name: string, asSeen = false): Promise<void> {
    const { daemonSet } = subject;
    const { registry, recordEvent } = this.#deps;
    const pod = this.#podNamed(daemonSet, name);
    if (!pod) return;
    const { resourceVersion } = pod.metadata;
    const preconditions = { ...preconditionsOf(pod), ...(asSeen && resourceVersion && { resourceVersion }) };
    try {
      const result = await registry.delete(podKind, pod.metadata, { preconditions });
      this.#wrote(subject, result.object);
      recordEvent(daemonSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isGone(error)) return;
      recordEvent(daemonSet, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
      throw error;
    }
  }

  /**
   * Requests that the host replaces the Pod itself, if the node has capacity for the successor. A refused successor is
   * retried with the back-off of a refused create; otherwise the fleet reconciler would repeat the request in a tight
   * loop.
   */
  async requestHandover(subject: NodeSubject, name: string, terms: HandoverTerms): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const old = this.#podNamed(daemonSet, name);
    if (!old) return;
    const { uid, current } = tally.subject;
    const key = nodeKey(daemonSet, nodeName);
    const gate = this.#gateOf(subject);
    if (!gate.tryEnter(key)) return;
    try {
      if (this.#lacksCapacity(subject, old)) {
        gate.cancelled();
        return;
      }
      const given = await this.#hostHandovers.request({ daemonSet, hash: current.hash }, old, terms);
      gate.created();
      this.#deps.refusals.accepted(uid, current.hash);
      this.#wrote(subject, given);
      const text = `Requested handover of pod ${name} on node ${nodeName}`;
      this.#deps.recordEvent(daemonSet, 'Normal', 'HandoverRequested', text);
    } catch (error) {
      if (isGone(error)) gate.cancelled();
      else this.#refused(subject, gate, current.hash, error);
    }
  }

  #lacksCapacity({ daemonSet, nodeName, tally, context }: NodeSubject, old: Pod): boolean {
    const { hash } = tally.subject.current;
    const present = handoverOf(old)?.successor;
    // A present handover to the same revision has its capacity already.
    const isGiven = present && this.#hostHandovers.isSameSuccessor({ daemonSet, hash }, present, nodeName);
    const refusals = isGiven ? [] : this.#capacity.refusals(daemonSet, tally, old);
    if (refusals.length === 0) return false;
    tally.lackingCapacitySince.set(nodeName, this.#deps.clock.now());
    const text = `failed to place pod on "${nodeName}": ${refusals.join(', ')}`;
    this.#deps.recordEvent(daemonSet, 'Warning', 'FailedPlacement', text);
    context.requeueAfter(0);
    return true;
  }

  /** Withdraws the Pod's handover, or removes what is left of it. Throws ApiError. */
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
    return this.#deps.informers.pods.get({ ...(namespace ? { namespace } : {}), name });
  }

  /** Creates the node's Pod, unless creates of the DaemonSet are delayed. */
  async create(subject: NodeSubject): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const key = nodeKey(daemonSet, nodeName);
    const gate = this.#gateOf(subject);
    if (!gate.tryEnter(key)) return;
    const { recordEvent, refusals } = this.#deps;
    const { uid } = tally.subject;
    const revision = this.#revisionFor(subject);
    try {
      const created = await this.#writePod(subject, revision);
      gate.created();
      refusals.accepted(uid, revision.hash);
      this.#wrote(subject, created);
      recordEvent(daemonSet, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      this.#refused(subject, gate, revision.hash, error);
    }
  }

  /** Records that the API refused a Pod of revision `hash`. The key is woken when it may retry. */
  #refused(
    { daemonSet, nodeName, tally }: NodeSubject,
    gate: CreateGate,
    hash: string,
    error: unknown,
  ): void {
    const { refusals, recordEvent, clock, log } = this.#deps;
    gate.refused(nodeKey(daemonSet, nodeName));
    refusals.refused(tally.subject.uid, hash, textOf(error), clock.now());
    if (isNamespaceEnding(error)) return;
    recordEvent(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
    log.warn({ err: error, node: nodeName, daemonSet: fleetKey(daemonSet) }, 'could not create a Pod');
  }

  #revisionFor({ daemonSet, nodeName, tally, counted }: NodeSubject): PinnedRevision {
    return counted.constraints.pinnedRevision(nodeName) ?? { daemonSet, hash: tally.subject.current.hash };
  }

  /** Binds the Pod in the same write if the node has capacity. Otherwise the scheduler binds it. */
  async #writePod({ daemonSet, nodeName }: NodeSubject, revision: PinnedRevision): Promise<Pod> {
    const { registry, reservations } = this.#deps;
    const pod = this.#templates.pod(revision.daemonSet, nodeName, revision.hash);
    const reservation = pod.spec.nodeName ? undefined : reservations.tryReserveNew(pod, nodeName);
    if (reservation?.bound) pod.spec.nodeName = nodeName;
    let written: Pod | undefined;
    try {
      const record = reservation?.bound
        ? await registry.createFromTemplate(
            this.#templates.templateFor(revision.daemonSet, pod),
            nodeName,
            valuesTextOf(pod),
          )
        : await registry.create(podKind, daemonSet.metadata.namespace, pod);
      written = record.object();
      return written;
    } finally {
      if (reservation?.bound) reservation.settle(written);
    }
  }

  /**
   * A changed template, override or host value gets a new gate, because refusals of the last Pods may delay creates by
   * up to 17 minutes.
   */
  #gateOf({ daemonSet, tally }: NodeSubject): CreateGate {
    const { uid, current } = tally.subject;
    const values = fleetSettings(this.#deps.informers, daemonSet);
    const revision = rolloutRevision({ hash: current.hash, ...(values === undefined ? {} : { values }) });
    const present = this.#gates.get(uid);
    if (present?.revision === revision) return present.gate;
    if (present) this.#deps.refusals.forget(uid);
    const gate = new CreateGate(this.#deps.clock, (key) => this.#wakeNode(key));
    this.#gates.set(uid, { revision, gate });
    present?.gate.close();
    return gate;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
