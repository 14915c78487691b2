/** Writes turns on Pods for their hosts to carry out, and takes them away again (`shared/kube/handovers/host-handover.ts`). */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  HANDOVER_ANNOTATION,
  type HostHandover,
  handoverOf,
  withdrawalAnnotationFor,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod } from '../../decisions/daemonsets/daemon-pod.js';
import type { HandoverTerms } from '../../decisions/handovers/handover-terms.js';
import { podKind } from '../../kinds/index.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';
import type { DaemonPodTemplates } from '../daemonsets/daemon-pod-templates.js';

/** What stands there is left as it is. */
const UNCHANGED = Symbol('unchanged');

export class HandoverWrites {
  readonly #registry: Pick<Registry, 'modify' | 'reviewFromTemplate'>;
  readonly #models: DaemonPodTemplates;

  constructor(registry: Pick<Registry, 'modify' | 'reviewFromTemplate'>, models: DaemonPodTemplates) {
    this.#registry = registry;
    this.#models = models;
  }

  /**
   * Gives the host of `old` its turn. One for the same revision that stands there already keeps its successor: the host may
   * have begun it. Answers the Pod as written; throws ApiError, as a create of the successor would.
   */
  async request(
    { daemonSet, hash }: { daemonSet: DaemonSet; hash: string },
    old: Pod,
    terms: HandoverTerms,
  ): Promise<Pod> {
    const present = handoverOf(old)?.successor;
    const isSame = present?.metadata.labels?.[REVISION_HASH_LABEL] === hash;
    const { nodeName = '' } = old.spec;
    const successor = present && isSame ? present : await this.#admitted(daemonSet, hash, nodeName);
    const turn: HostHandover = { successor, ...terms };
    return this.#annotate(old, () => JSON.stringify(turn));
  }

  /**
   * Takes the turn back, which is not done with that: the host may begin until it hears of it. It says when it has
   * (`WITHDRAWN`), and then `settle` ends it: one that is taken back already stays so. Answers the Pod as written.
   */
  withdraw(old: Pod): Promise<Pod> {
    return this.#annotate(old, (stored) => {
      if (withdrawnSuccessorOf(stored) !== undefined) return UNCHANGED;
      // Of a copy: what is parsed is kept by its object, and this one changes.
      const turn = handoverOf({ ...stored });
      return turn && withdrawalAnnotationFor(turn);
    });
  }

  /** Nothing is left of the turn. Answers the Pod as written. */
  settle(old: Pod): Promise<Pod> {
    return this.#annotate(old, () => undefined);
  }

  /** What would take the place of the node's Pod. Without the time of its making: that is when the host begins. */
  successor(daemonSet: DaemonSet, hash: string, nodeName: string): Pod {
    return withoutBirth(this.#model(daemonSet, hash, nodeName).render(nodeName).object);
  }

  /**
   * Returns a successor that passed the admission of a create. The hub stores a Pod that a host has started without a check, so
   * a turn must never bring a host a Pod that its namespace refuses.
   */
  async #admitted(daemonSet: DaemonSet, hash: string, nodeName: string): Promise<Pod> {
    const model = this.#model(daemonSet, hash, nodeName);
    return withoutBirth(await this.#registry.reviewFromTemplate(model, nodeName));
  }

  #model(daemonSet: DaemonSet, hash: string, nodeName: string): ObjectTemplate<Pod> {
    const made = daemonPod(daemonSet, nodeName, hash);
    made.spec.nodeName = nodeName;
    return this.#models.templateFor(daemonSet, made);
  }

  /** `textOf` answers what is to stand on the Pod as it is stored; undefined: nothing. */
  async #annotate(
    { metadata }: Pod,
    textOf: (stored: Pod) => string | typeof UNCHANGED | undefined,
  ): Promise<Pod> {
    const record = await this.#registry.modify(podKind, metadata, (stored): undefined | false => {
      if (stored.metadata.uid !== metadata.uid)
        throw new ApiError('Conflict', 'the Pod is another one by now');
      const text = textOf(stored);
      if (text === UNCHANGED) return false;
      const { [HANDOVER_ANNOTATION]: _, ...others } = stored.metadata.annotations ?? {};
      stored.metadata.annotations = text === undefined ? others : { ...others, [HANDOVER_ANNOTATION]: text };
      return undefined;
    });
    return record.object();
  }
}

function withoutBirth({ status: _, ...pod }: Pod): Pod {
  const { creationTimestamp: __, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}
