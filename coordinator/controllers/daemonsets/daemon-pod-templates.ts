/** Pods of one template differ only in their node and its values, so they are admitted and encoded once. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod, daemonPodOn } from '../../decisions/daemonsets/daemon-pod.js';
import { renderPod, rendersSpec, withValuesText } from '../../decisions/host-values/rendered-pod.js';
import { valueUsesOf } from '../../decisions/host-values/value-uses.js';
import type { Informers } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';
import { nodeValues } from '../host-values/node-values.js';

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
  readonly #informers: Pick<Informers, 'nodes' | 'hostValues'>;
  /** All versions of a DaemonSet share the spec object until the spec changes. */
  readonly #known = new WeakMap<DaemonSet['spec'], Known>();
  readonly #examples = new WeakMap<DaemonSet, Example>();

  constructor(
    registry: Pick<Registry, 'prepareTemplate'>,
    informers: Pick<Informers, 'nodes' | 'hostValues'>,
  ) {
    this.#registry = registry;
    this.#informers = informers;
  }

  /**
   * Like `daemonPod`, with the values of the node. The Pods of all nodes share everything that does not differ. Throws
   * ApiError if a value is missing.
   */
  pod(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
    let example = this.#examples.get(daemonSet);
    if (example?.hash !== hash) {
      example = { hash, pod: daemonPod(daemonSet, nodeName, hash) };
      this.#examples.set(daemonSet, example);
    }
    return this.#rendered(daemonSet, daemonPodOn(example.pod, nodeName), nodeName);
  }

  /** `pod`: a bound Pod of the DaemonSet. Throws ApiError if such a Pod may not be created. */
  templateFor({ spec, metadata: { namespace } }: DaemonSet, pod: Pod): ObjectTemplate<Pod> {
    const uses = valueUsesOf(spec.template);
    // Pods of different images or resources have to be admitted one by one.
    if (uses && rendersSpec(uses)) return this.#prepare(namespace, pod);
    const known = this.#known.get(spec);
    const metadata = withoutValues(pod.metadata);
    if (known && sameJson(known.metadata, metadata) && known.model.isCurrent()) return known.model;
    const model = this.#prepare(namespace, pod);
    this.#known.set(spec, { metadata, model });
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

  #rendered(daemonSet: DaemonSet, pod: Pod, nodeName: string): Pod {
    const uses = valueUsesOf(daemonSet.spec.template);
    if (!uses) return pod;
    const { nodes, hostValues } = this.#informers;
    const node = nodes.get({ name: nodeName }) ?? { metadata: { name: nodeName } };
    const values = nodeValues(hostValues, daemonSet, node);
    if (!values) return pod;
    if (values.kind === 'refused') throw new ApiError('Invalid', values.message);
    return renderPod(pod, uses, values);
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
