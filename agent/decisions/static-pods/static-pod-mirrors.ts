/** Mirror Pods, which show static Pods in the API. */
import { refText } from '../../../shared/kube/objects/meta.js';
import { type AssignedPod, isUnassigned } from '../pods/assigned-pod.js';

/** Uid on this host and JSON of one static Pod. */
interface StaticMirror {
  uid: string;
  object: Uint8Array;
}

/** Returns the mirrors. A stopping Pod is shown until it has ended or another Pod takes its name. */
export function mirrorsOf(pods: readonly AssignedPod[]): StaticMirror[] {
  const byName = new Map<string, AssignedPod>();
  for (const held of pods.filter(({ manifestFile }) => manifestFile !== undefined)) {
    const name = refText(held.pod.metadata);
    if (!isUnassigned(held) || !byName.has(name)) byName.set(name, held);
  }
  return [...byName.values()].map(({ uid, pod }) => ({ uid, object: Buffer.from(JSON.stringify(pod)) }));
}
