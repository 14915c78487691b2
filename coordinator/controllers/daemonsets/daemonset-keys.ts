/** The keys that the controllers of DaemonSets work on: `namespace/name`, and `namespace/name@node`. */
import { type KubeObject, type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import { splitKey } from '../queue/object-key.js';

/** The key of the whole DaemonSet. */
export function fleetKey(daemonSet: KubeObject): string {
  return refText(daemonSet.metadata);
}

/** The key of one DaemonSet on one node. */
export function nodeKey(daemonSet: KubeObject, nodeName: string): string {
  return `${fleetKey(daemonSet)}@${nodeName}`;
}

/** What a key names; `nodeName` is "" in a fleet key. */
export function parseKey(key: string): { ref: ObjectRef; nodeName: string } {
  const [text = '', nodeName = ''] = key.split('@');
  return { ref: splitKey(text), nodeName };
}
