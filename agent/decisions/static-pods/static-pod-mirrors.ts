/** What the coordinator is told of static Pods, to show them in the API. */
import { refText } from '../../../shared/kube/objects/meta.js';
import type { AssignedPod } from '../pods/assigned-pod.js';

/** One static Pod: the uid it has on this host, and its JSON. */
interface StaticMirror {
  uid: string;
  object: Uint8Array;
}

/** A Pod that ends is shown until it has ended, or until another takes its name. */
export function mirrorsOf(pods: readonly AssignedPod[]): StaticMirror[] {
  const byName = new Map<string, AssignedPod>();
  for (const held of pods.filter(({ manifestFile: manifest }) => manifest !== undefined)) {
    const name = refText(held.pod.metadata);
    if (!held.unassigned || !byName.has(name)) byName.set(name, held);
  }
  return [...byName.values()].map(({ uid, pod }) => ({ uid, object: Buffer.from(JSON.stringify(pod)) }));
}
