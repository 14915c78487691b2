/** Ends Pods of lower priority for a Pod that fits nowhere (pkg/scheduler/framework/preemption). */

import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { podPriority } from '../../../shared/kube/pods/priority-class.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { contactOf } from '../../decisions/nodes/node-contact.js';
import { withNomination } from '../../decisions/placement/nomination.js';
import { DEFAULT_SCHEDULER, FitRefusals } from '../../decisions/placement/pod-fit.js';
import {
  cheapestCandidate,
  enoughCandidates,
  NOT_HELPFUL,
  type PreemptionCandidate,
  preemptionObjection,
  selectVictims,
  type VictimChoice,
} from '../../decisions/placement/preemption.js';
import { type SpendableBudgets, spendableBudgets } from '../../decisions/policy/preemption-budgets.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { NodeReservations } from './node-reservations.js';

interface PreemptorDeps {
  registry: Pick<Registry, 'preempt' | 'writeStatus'>;
  informers: Pick<Informers, 'pods' | 'nodes' | 'podDisruptionBudgets'>;
  reservations: NodeReservations;
  recordEvent: RecordEvent;
  clock: Clock;
  /** Set if the store was restored from a backup: no Pod is ended on a host that has not reported since. */
  restoredEpoch?: string;
}

/** The nodes that refused a Pod: all of them, and the names of those where the end of other Pods could help. */
export interface RefusedNodes {
  count: number;
  curable: readonly string[];
}

/**
 * `found`: the node is reserved for the Pod until the caller calls `settle`, as in `NodeReservations.nominate`. Store the
 * nomination, then end the victims. `none`: `text` says why, and an old nomination is void. `waits`: the Pod may not
 * preempt at present, and keeps its nomination. `retry`: the Pod fits by now, or the node that was chosen has changed.
 */
export type PreemptionPlan =
  | { outcome: 'retry' }
  | { outcome: 'found'; candidate: PreemptionCandidate; settle(nominated?: Pod): void }
  | { outcome: 'none' | 'waits'; text: string };

export class PodPreemptor {
  readonly #deps: PreemptorDeps;

  constructor(deps: PreemptorDeps) {
    this.#deps = deps;
  }

  async plan(pod: Pod, { count, curable }: RefusedNodes): Promise<PreemptionPlan> {
    const objection = preemptionObjection(pod, this.#nominatedNode(pod, curable));
    if (objection !== undefined) return { outcome: 'waits', text: objection };
    const refusals = new FitRefusals();
    const candidates: PreemptionCandidate[] = [];
    // Once for all nodes: compiling the selector of each budget for each node would take O(nodes x budgets).
    const budgets = this.#budgets();
    const slice = new TimeSlice(this.#deps.clock);
    for (const node of curable) {
      const choice = this.#victimsOn(pod, node, budgets);
      if (!('victims' in choice)) refusals.add(choice.reasons);
      else if (choice.victims.length === 0) return { outcome: 'retry' };
      else candidates.push({ node, ...choice });
      if (candidates.length >= enoughCandidates(curable.length)) break;
      await slice.yieldIfUsedUp();
    }
    const cheapest = cheapestCandidate(candidates);
    if (cheapest) return this.#nominate(pod, cheapest.node, budgets);
    refusals.add([NOT_HELPFUL], count - refusals.nodes);
    return { outcome: 'none', text: refusals.message() };
  }

  /**
   * Chooses the victims again, because other reconciles may have changed the node since it was visited. Nothing may be
   * awaited between the choice and the nomination: otherwise the plan of another Pod would not see the nomination, and
   * one of the two would end Pods and still not fit.
   */
  #nominate(pod: Pod, node: string, budgets: SpendableBudgets): PreemptionPlan {
    const choice = this.#victimsOn(pod, node, budgets);
    if (!('victims' in choice) || choice.victims.length === 0) return { outcome: 'retry' };
    const settle = this.#deps.reservations.nominate(pod, node);
    return { outcome: 'found', candidate: { node, ...choice }, settle };
  }

  #nominatedNode({ status }: Pod, curable: readonly string[]) {
    const name = status?.nominatedNodeName;
    if (!name) return undefined;
    return { pods: this.#deps.informers.pods.indexed(PODS_BY_NODE, name), isFinal: !curable.includes(name) };
  }

  #victimsOn(pod: Pod, nodeName: string, budgets: SpendableBudgets): VictimChoice {
    const { informers, reservations } = this.#deps;
    const node = informers.nodes.get({ name: nodeName });
    // Only the host can confirm that a victim has stopped.
    const isOffline = node && contactOf(node) !== 'here';
    if (!node || isOffline || this.#isAwaitingResync(node)) return { reasons: [NOT_HELPFUL] };
    return selectVictims(pod, {
      node,
      pods: informers.pods.indexed(PODS_BY_NODE, nodeName),
      reserved: reservations.reservedAgainst(pod, nodeName),
      budgets,
    });
  }

  #budgets(): SpendableBudgets {
    return spendableBudgets(this.#deps.informers.podDisruptionBudgets.list());
  }

  #isAwaitingResync({ metadata }: Node): boolean {
    const { restoredEpoch } = this.#deps;
    return restoredEpoch !== undefined && metadata.annotations?.[RESYNCED_IN_EPOCH] !== restoredEpoch;
  }

  /**
   * Ends the victims. The nomination of the preemptor must be stored first: otherwise a victim's DaemonSet could bind
   * the victim's successor to the freed capacity after a crash. If a Pod of higher priority has taken the node since
   * the plan, other Pods would be chosen, so nothing ends and the preemptor is queued again.
   */
  async execute(
    preemptor: Pod,
    { node, victims }: PreemptionCandidate,
    context: ReconcileContext,
  ): Promise<void> {
    await this.#clearLowerNominations(preemptor, node, context);
    if (!areSamePods(this.#victimsOn(preemptor, node, this.#budgets()), victims)) {
      context.requeueAfter(1);
      return;
    }
    const { schedulerName = DEFAULT_SCHEDULER } = preemptor.spec;
    const message = `${schedulerName}: preempting to accommodate a higher priority pod`;
    for (const victim of victims) {
      if (victim.metadata.deletionTimestamp) continue;
      await unlessGone(async () => {
        const ended = await this.#deps.registry.preempt(victim.metadata, message, preconditionsOf(victim));
        if (!ended) return;
        context.observeWrite(ended.object());
        const text = `Preempted by pod ${preemptor.metadata.uid} on node ${node}`;
        this.#deps.recordEvent(victim, 'Normal', 'Preempted', text);
      });
    }
  }

  /** Pods of lower priority may not fit any longer on the node that was nominated for them. */
  async #clearLowerNominations(preemptor: Pod, node: string, context: ReconcileContext): Promise<void> {
    const priority = podPriority(preemptor);
    const lower = this.#deps.reservations.nominatedOn(node).filter((pod) => podPriority(pod) < priority);
    for (const pod of lower) {
      await unlessGone(async () => {
        const cleared = await this.#deps.registry.writeStatus(
          podKind,
          pod.metadata,
          ({ status }) => (status?.nominatedNodeName === node ? withNomination(status, 'clear') : undefined),
          preconditionsOf(pod),
        );
        context.observeWrite(cleared.object());
      });
    }
  }
}

function areSamePods(choice: VictimChoice, pods: readonly Pod[]): boolean {
  if (!('victims' in choice) || choice.victims.length !== pods.length) return false;
  const uids = new Set(choice.victims.map(({ metadata }) => metadata.uid));
  return pods.every(({ metadata }) => uids.has(metadata.uid));
}
