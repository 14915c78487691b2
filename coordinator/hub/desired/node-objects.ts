/** The desired objects of each node: its Pods, and the ConfigMaps and Secrets that they reference. */

import { withSuccessor } from '../../../shared/kube/handovers/host-handover.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import {
  type ConfigReference,
  configKey,
  configReferenceTo,
} from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import { type Informers, type ObjectChange, PODS_BY_NODE } from '../../informers/informer.js';
import { CREDENTIAL_SECRET_TYPE } from '../../kinds/config/secret-kind.js';
import { ConfigReferences, hubReferences } from './config-references.js';
import { isSameForAgent } from './desired-object.js';

export class NodeObjects {
  readonly #informers: Informers;
  readonly #touch: (node: string, uid: string) => void;
  readonly #references = new ConfigReferences();

  /** Subscribes to the informers. `touch` is called with each node and uid that have to be compared again. */
  constructor(informers: Informers, touch: (node: string, uid: string) => void) {
    this.#informers = informers;
    this.#touch = touch;
    informers.pods.onChange((change) => this.#podChanged(change));
    informers.configMaps.onChange((change) => this.#configChanged(change));
    informers.secrets.onChange((change) => this.#configChanged(change));
  }

  /**
   * Returns the Pod with this uid if it is bound to the node, or the ConfigMap or Secret if such a Pod references it.
   */
  object(node: string, uid: string): KubeObject | undefined {
    const { pods, configMaps, secrets } = this.#informers;
    const pod = pods.byUid(uid);
    if (pod) return pod.spec.nodeName === node && !isMirror(pod) ? pod : undefined;
    const config = configMaps.byUid(uid) ?? unlessCredential(secrets.byUid(uid));
    return config && this.#references.isReferenced(node, configReferenceTo(config)) ? config : undefined;
  }

  /** Returns all Pods that are bound to the node, and the existing objects that they reference. */
  objects(node: string): KubeObject[] {
    const pods = this.#informers.pods.indexed(PODS_BY_NODE, node).filter((pod) => !isMirror(pod));
    const named = new Map<string, KubeObject>();
    for (const reference of pods.flatMap(withSuccessor).flatMap(hubReferences)) {
      const object = this.#find(reference);
      if (object) named.set(configKey(reference), object);
    }
    return [...named.values(), ...pods];
  }

  #find({ kind, ...ref }: ConfigReference): KubeObject | undefined {
    const { secrets, configMaps } = this.#informers;
    return kind === 'Secret' ? unlessCredential(secrets.get(ref)) : configMaps.get(ref);
  }

  #podChanged(change: ObjectChange<Pod>): void {
    for (const { node, references } of this.#references.podChanged(change)) {
      for (const reference of references) this.#touchObject(node, this.#find(reference));
    }
    const { previous, current } = change;
    const pod = current ?? previous;
    const isChanged = !previous || !current || !isSameForAgent(previous, current);
    if (isChanged && pod?.spec.nodeName) this.#touchObject(pod.spec.nodeName, pod);
  }

  #configChanged({ previous, current }: ObjectChange<KubeObject>): void {
    const object = current ?? previous;
    if (!object) return;
    for (const node of this.#references.nodesReferencing(configReferenceTo(object)))
      this.#touchObject(node, object);
  }

  #touchObject(node: string, object: KubeObject | undefined): void {
    if (object?.metadata.uid) this.#touch(node, object.metadata.uid);
  }
}

/** A mirror Pod exists only in the API. Its host already runs the static Pod. */
function isMirror(pod: Pod): boolean {
  return staticPodUid(pod) !== undefined;
}

/** Credentials of agents are never sent to a host. */
function unlessCredential(secret: Secret | undefined): Secret | undefined {
  return secret?.type === CREDENTIAL_SECRET_TYPE ? undefined : secret;
}
