/**
 * Pods of one template differ only in their node and its values, so they are admitted and encoded once. Each
 * combination of overrides is a template of its own.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod, daemonPodOn } from '../../decisions/daemonsets/daemon-pod.js';
import { renderPod, rendersSpec, withValuesText } from '../../decisions/host-values/rendered-pod.js';
import { valueUsesOf } from '../../decisions/host-values/value-uses.js';
import type { Informers } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';
import { nodeTemplate } from '../host-values/node-template.js';

/** A node's Pod before it is bound. */
interface Example {
  hash: string;
  pod: Pod;
}

interface Known {
  /** Metadata from which the template was made. Pods with equal metadata share the template. */
  metadata: Pod['metadata'];
  model: ObjectTemplate<Pod>;
}

export class DaemonPodTemplates {
  readonly #registry: Pick<Registry, 'prepareTemplate'>;
  readonly #informers: Pick<Informers, 'nodes' | 'hostValues' | 'daemonSetOverrides'>;
  /** All versions of a DaemonSet share the spec object until the spec changes. */
  readonly #known = new WeakMap<DaemonSet['spec'], Known>();
  readonly #examples = new WeakMap<DaemonSet, Example>();

  constructor(
    registry: Pick<Registry, 'prepareTemplate'>,
    informers: Pick<Informers, 'nodes' | 'hostValues' | 'daemonSetOverrides'>,
  ) {
    this.#registry = registry;
    this.#informers = informers;
  }

  /**
   * Like `daemonPod`, with the overrides and values of the node. The Pods of all nodes share everything that does not
   * differ. Throws ApiError if a value is missing, or if overrides contradict each other.
   */
  pod(whole: DaemonSet, nodeName: string, hash: string): Pod {
    const made = nodeTemplate(this.#informers, whole, this.#node(nodeName));
    if (made.kind === 'refused') throw new ApiError('Invalid', made.message);
    const { daemonSet, values } = made;
    const pod = daemonPodOn(this.#example(daemonSet, nodeName, hash), nodeName);
    return values ? renderPod(pod, values.uses, values.resolved) : pod;
  }

  #node(name: string): Pick<Node, 'metadata'> {
    return this.#informers.nodes.get({ name }) ?? { metadata: { name } };
  }

  #example(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
    let example = this.#examples.get(daemonSet);
    if (example?.hash !== hash) {
      example = { hash, pod: daemonPod(daemonSet, nodeName, hash) };
      this.#examples.set(daemonSet, example);
    }
    return example.pod;
  }

  /**
   * `pod`: a bound Pod that `pod()` made of the DaemonSet. Throws ApiError if such a Pod may not be created, or if the
   * overrides of its node have changed since.
   */
  templateFor(whole: DaemonSet, pod: Pod): ObjectTemplate<Pod> {
    const made = nodeTemplate(this.#informers, whole, this.#node(pod.spec.nodeName ?? ''));
    if (made.kind === 'refused') throw new ApiError('Invalid', made.message);
    const { spec, metadata } = made.daemonSet;
    const { namespace } = metadata;
    const uses = valueUsesOf(spec.template);
    // Pods of different images or resources have to be admitted one by one.
    if (uses && rendersSpec(uses)) return this.#prepare(namespace, pod);
    const known = this.#known.get(spec);
    const own = withoutValues(pod.metadata);
    if (known && sameJson(known.metadata, own) && known.model.isCurrent()) return known.model;
    const model = this.#prepare(namespace, pod);
    this.#known.set(spec, { metadata: own, model });
    return model;
  }

  #prepare(namespace: string | undefined, pod: Pod): ObjectTemplate<Pod> {
    const detail = valuesTextOf(pod);
    return this.#registry.prepareTemplate(podKind, namespace, {
      body: pod,
      customize: (model, nodeName, values) => {
        const placed = daemonPodOn(model, nodeName);
        return detail === undefined ? placed : withValuesText(placed, values);
      },
      text: pod.spec.nodeName ?? '',
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

/** Returns the Pod's annotation of values. */
export function valuesTextOf({ metadata }: Pick<Pod, 'metadata'>): string | undefined {
  return metadata.annotations?.[HOST_VALUES_ANNOTATION];
}

function withoutValues(metadata: Pod['metadata']): Pod['metadata'] {
  if (metadata.annotations?.[HOST_VALUES_ANNOTATION] === undefined) return metadata;
  const { [HOST_VALUES_ANNOTATION]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}
