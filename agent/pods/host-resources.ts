/** Which Pods use the host's resources, and the end of Pods that a critical Pod preempts (pkg/kubelet/preemption). */

import { refText } from '../../shared/kube/objects/meta.js';
import { countedState } from '../decisions/admission/counted-state.js';
import type { HostCapacity, OtherPod } from '../decisions/admission/resource-admission.js';
import { type AssignedPod, graceMs } from '../decisions/pods/assigned-pod.js';
import { PREEMPTED } from '../decisions/pods/pod-view.js';
import type { PodWorker } from './pod-worker.js';
import type { PodSource, PodWorkerDeps } from './pod-worker-deps.js';

export class HostResources {
  readonly #source: Pick<PodSource, 'get' | 'terminateDurably'>;
  readonly #deps: Pick<PodWorkerDeps, 'clock' | 'facts' | 'log'>;
  readonly #workers: ReadonlyMap<string, PodWorker>;
  readonly #onEnded: (assigned: AssignedPod) => void;
  /** Victims whose end is being written. Another critical Pod counts on their resources already. */
  readonly #preempting = new Set<string>();

  /** `onEnded` receives each victim once its end is on disk. */
  constructor(
    source: Pick<PodSource, 'get' | 'terminateDurably'>,
    deps: Pick<PodWorkerDeps, 'clock' | 'facts' | 'log'>,
    workers: ReadonlyMap<string, PodWorker>,
    onEnded: (assigned: AssignedPod) => void,
  ) {
    this.#source = source;
    this.#deps = deps;
    this.#workers = workers;
    this.#onEnded = onEnded;
  }

  /** Returns the host's resources, with the Pods that count against this new one. */
  capacityFor(own: AssignedPod): HostCapacity {
    const others = [...this.#workers.values()].flatMap((worker): OtherPod[] => {
      const { uid } = worker.assigned;
      const assigned = this.#source.get(uid) ?? worker.assigned;
      if (uid === own.uid) return [];
      const { isInspected, isFinished, mayRun, isAdmitted, waitsForPredecessor } = worker;
      const isBeingPreempted = this.#preempting.has(uid);
      const known = { isInspected, isFinished, mayRun, isAdmitted, waitsForPredecessor, isBeingPreempted };
      const state = countedState(own, { assigned, ...known });
      return state ? [{ uid, pod: assigned.pod, isStatic: isStatic(assigned), state }] : [];
    });
    return { isStatic: isStatic(own), allocatable: this.#deps.facts().allocatable, others };
  }

  /**
   * Ends the victims with their own grace periods. Each victim's end is on disk before its first container stops.
   * Otherwise a restarted agent would start the victim again next to the critical Pod.
   */
  async preempt(own: AssignedPod, victims: readonly string[]): Promise<void> {
    for (const uid of victims) this.#preempting.add(uid);
    try {
      for (const uid of victims) await this.#end(uid, own);
    } finally {
      for (const uid of victims) this.#preempting.delete(uid);
    }
  }

  async #end(uid: string, own: AssignedPod): Promise<void> {
    const victim = this.#source.get(uid);
    if (!victim) return;
    const { clock, log } = this.#deps;
    const deadline = clock.now() + graceMs(victim.pod.spec.terminationGracePeriodSeconds);
    const { reason, message } = PREEMPTED;
    const end = { reason, message, deadline, isDisruption: true as const };
    const ended = await this.#source.terminateDurably(uid, end);
    if (!ended) return;
    const pod = refText(victim.pod.metadata);
    log.warn({ uid, pod, criticalPod: refText(own.pod.metadata) }, 'a critical pod preempted a pod');
    this.#workers.get(uid)?.emitEvent(PREEMPTED);
    this.#onEnded(ended);
  }
}

function isStatic({ manifestFile }: AssignedPod): boolean {
  return manifestFile !== undefined;
}
