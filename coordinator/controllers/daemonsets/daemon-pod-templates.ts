/** Pods of one template differ only in their node, so they are admitted and encoded once. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod, daemonPodOn } from '../../decisions/daemonsets/daemon-pod.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';

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
  /** All versions of a DaemonSet share the spec object until the spec changes. */
  readonly #known = new WeakMap<DaemonSet['spec'], Known>();
  readonly #examples = new WeakMap<DaemonSet, Example>();

  constructor(registry: Pick<Registry, 'prepareTemplate'>) {
    this.#registry = registry;
  }

  /** Like `daemonPod`. The Pods of all nodes share everything that does not name the node. */
  pod(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
    let example = this.#examples.get(daemonSet);
    if (example?.hash !== hash) {
      example = { hash, pod: daemonPod(daemonSet, nodeName, hash) };
      this.#examples.set(daemonSet, example);
    }
    return daemonPodOn(example.pod, nodeName);
  }

  /** `pod`: a bound Pod of the DaemonSet. Throws ApiError if such a Pod may not be created. */
  templateFor({ spec, metadata: { namespace } }: DaemonSet, pod: Pod): ObjectTemplate<Pod> {
    const known = this.#known.get(spec);
    if (known && sameJson(known.metadata, pod.metadata) && known.model.isCurrent()) return known.model;
    const model = this.#registry.prepareTemplate(podKind, namespace, {
      body: pod,
      customize: daemonPodOn,
      text: pod.spec.nodeName ?? '',
    });
    this.#known.set(spec, { metadata: pod.metadata, model });
    return model;
  }
}
