/** Writes handovers on Pods, and withdraws them (`shared/kube/handovers/host-handover.ts`). */

import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
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
import type { HandoverTerms } from '../../decisions/handovers/handover-terms.js';
import { podKind } from '../../kinds/index.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';
import { type DaemonPodTemplates, valuesTextOf } from '../daemonsets/daemon-pod-templates.js';

/** Leaves the annotation unchanged. */
const UNCHANGED = Symbol('unchanged');

export class HandoverWrites {
  readonly #registry: Pick<Registry, 'modify' | 'reviewFromTemplate'>;
  readonly #templates: DaemonPodTemplates;

  constructor(registry: Pick<Registry, 'modify' | 'reviewFromTemplate'>, templates: DaemonPodTemplates) {
    this.#registry = registry;
    this.#templates = templates;
  }

  /**
   * Requests that the host of `old` replaces it. A present handover to the same revision keeps its successor, because
   * the host may have started it. Returns the stored Pod. Throws ApiError if a create of the successor would be
   * refused.
   */
  async request(
    { daemonSet, hash }: { daemonSet: DaemonSet; hash: string },
    old: Pod,
    terms: HandoverTerms,
  ): Promise<Pod> {
    const present = handoverOf(old)?.successor;
    const { nodeName = '' } = old.spec;
    const isSame = present !== undefined && this.isSameSuccessor({ daemonSet, hash }, present, nodeName);
    const successor = isSame ? present : await this.#admitted(daemonSet, hash, nodeName);
    const handover: HostHandover = { successor, ...terms };
    return this.#annotate(old, () => JSON.stringify(handover));
  }

  /** Returns true if the successor is of this revision and of the present overrides and values of its node. */
  isSameSuccessor(
    { daemonSet, hash }: { daemonSet: DaemonSet; hash: string },
    successor: Pod,
    nodeName: string,
  ): boolean {
    if (successor.metadata.labels?.[REVISION_HASH_LABEL] !== hash) return false;
    const wanted = this.#templates.pod(daemonSet, nodeName, hash);
    const isOverriddenAlike =
      successor.metadata.annotations?.[OVERRIDES_ANNOTATION] ===
      wanted.metadata.annotations?.[OVERRIDES_ANNOTATION];
    return isOverriddenAlike && valuesTextOf(successor) === valuesTextOf(wanted);
  }

  /**
   * Marks the handover as withdrawn. The host may start it until it acknowledges that (`WITHDRAWN`). `settle` then
   * removes it. Returns the stored Pod.
   */
  withdraw(old: Pod): Promise<Pod> {
    return this.#annotate(old, (stored) => {
      if (withdrawnSuccessorOf(stored) !== undefined) return UNCHANGED;
      // `handoverOf` caches by object. Pass a copy, because this object is about to change.
      const handover = handoverOf({ ...stored });
      return handover && withdrawalAnnotationFor(handover);
    });
  }

  /** Removes the handover. Returns the stored Pod. */
  settle(old: Pod): Promise<Pod> {
    return this.#annotate(old, () => undefined);
  }

  /**
   * Returns the Pod that would replace the node's Pod. It has no creation time, because the host sets that when it
   * starts.
   */
  successor(daemonSet: DaemonSet, hash: string, nodeName: string): Pod {
    const { template, values } = this.#template(daemonSet, hash, nodeName);
    return withoutCreationTime(template.render(nodeName, values).object);
  }

  /**
   * Returns a successor that passed the admission of a create. The hub stores Pods that hosts have started without a
   * check, so a handover must never bring a host a Pod that its namespace refuses.
   */
  async #admitted(daemonSet: DaemonSet, hash: string, nodeName: string): Promise<Pod> {
    const { template, values } = this.#template(daemonSet, hash, nodeName);
    return withoutCreationTime(await this.#registry.reviewFromTemplate(template, nodeName, values));
  }

  #template(
    daemonSet: DaemonSet,
    hash: string,
    nodeName: string,
  ): { template: ObjectTemplate<Pod>; values: string | undefined } {
    const pod = this.#templates.pod(daemonSet, nodeName, hash);
    pod.spec.nodeName = nodeName;
    return { template: this.#templates.templateFor(daemonSet, pod), values: valuesTextOf(pod) };
  }

  /** `textOf` returns the annotation for the stored Pod. Undefined: none. */
  async #annotate(
    { metadata }: Pod,
    textOf: (stored: Pod) => string | typeof UNCHANGED | undefined,
  ): Promise<Pod> {
    const record = await this.#registry.modify(podKind, metadata, (stored): undefined | false => {
      if (stored.metadata.uid !== metadata.uid)
        throw new ApiError('Conflict', 'the Pod was replaced by another one');
      const text = textOf(stored);
      if (text === UNCHANGED) return false;
      const { [HANDOVER_ANNOTATION]: _, ...others } = stored.metadata.annotations ?? {};
      stored.metadata.annotations = text === undefined ? others : { ...others, [HANDOVER_ANNOTATION]: text };
      return undefined;
    });
    return record.object();
  }
}

function withoutCreationTime({ status: _, ...pod }: Pod): Pod {
  const { creationTimestamp: __, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}
