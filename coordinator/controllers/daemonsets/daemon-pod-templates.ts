/** Models of DaemonSets' Pods: those of one template differ in their node alone, and are admitted and encoded once. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod, daemonPodOn } from '../../decisions/daemonsets/daemon-pod.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { ObjectTemplate, Registry } from '../../registry/registry.js';

/** The Pod of one node, as it is before it is bound. */
interface Example {
  hash: string;
  pod: Pod;
}

interface Known {
  /** What the model was made from; the same of its metadata means the same of all. */
  metadata: Pod['metadata'];
  model: ObjectTemplate<Pod>;
}

export class DaemonPodTemplates {
  readonly #registry: Pick<Registry, 'prepareTemplate'>;
  /** Specs are shared by all states of a DaemonSet between two changes of them. */
  readonly #known = new WeakMap<DaemonSet['spec'], Known>();
  readonly #examples = new WeakMap<DaemonSet, Example>();

  constructor(registry: Pick<Registry, 'prepareTemplate'>) {
    this.#registry = registry;
  }

  /** What `daemonPod` makes of them. All but what names the node is shared with the Pods of other nodes. */
  pod(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
    let example = this.#examples.get(daemonSet);
    if (example?.hash !== hash) {
      example = { hash, pod: daemonPod(daemonSet, nodeName, hash) };
      this.#examples.set(daemonSet, example);
    }
    return daemonPodOn(example.pod, nodeName);
  }

  /** The model of `pod`, which is bound and one of the DaemonSet's. Throws ApiError when no such Pod may be created. */
  templateFor({ spec, metadata: { namespace } }: DaemonSet, pod: Pod): ObjectTemplate<Pod> {
    const known = this.#known.get(spec);
    if (known && sameJson(known.metadata, pod.metadata)) return known.model;
    const model = this.#registry.prepareTemplate(podKind, namespace, {
      body: pod,
      customize: daemonPodOn,
      text: pod.spec.nodeName ?? '',
    });
    this.#known.set(spec, { metadata: pod.metadata, model });
    return model;
  }
}
