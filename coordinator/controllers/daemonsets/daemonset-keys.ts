/** Queue keys of the DaemonSet controllers: `namespace/name`, and `namespace/name@node`. */
import { type KubeObject, type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import { splitKey } from '../queue/object-key.js';

export function fleetKey(daemonSet: KubeObject): string {
  return refText(daemonSet.metadata);
}

export function nodeKey(daemonSet: KubeObject, nodeName: string): string {
  return `${fleetKey(daemonSet)}@${nodeName}`;
}

/** `nodeName` is "" for a fleet key. */
export function parseKey(key: string): { ref: ObjectRef; nodeName: string } {
  const [text = '', nodeName = ''] = key.split('@');
  return { ref: splitKey(text), nodeName };
}
