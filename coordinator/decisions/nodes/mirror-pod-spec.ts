/** Mirrors: how a host's static Pods stand in the API (pkg/kubelet/pod/mirror_client.go, plugin NodeRestriction). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import { configReferences } from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  MIRROR_ANNOTATION,
  referencedApiObjects,
  staticPodUid,
} from '../../../shared/kube/pods/static-pod-annotations.js';

/** The mirror to store, or why there is none. */
export type Mirror = { kind: 'mirror'; pod: Pod } | { kind: 'refused'; message: string };

/** The Pod that shows a static Pod of this node, whatever else its host says of it. `hostUid`: what the host calls it. */
export function mirrorOf(pod: Pod, hostUid: string, node: Pick<Node, 'metadata'>): Mirror {
  const { name, namespace, labels, annotations } = pod.metadata;
  const { name: nodeName, uid = '' } = node.metadata;
  // A host may not take the name that another host's Pod or a controller's may have.
  if (!name?.endsWith(`-${nodeName}`))
    return { kind: 'refused', message: `its name does not end in -${nodeName}` };
  const [config] = configReferences(pod);
  const named = config ? `${config.kind.toLowerCase()}s` : referencedApiObjects(pod);
  if (named) return { kind: 'refused', message: `a mirror pod may not reference ${named}` };
  const mirror: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(labels && { labels }),
      annotations: { ...annotations, [MIRROR_ANNOTATION]: hostUid },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true }],
    },
    spec: { ...pod.spec, nodeName },
  };
  return { kind: 'mirror', pod: mirror };
}

/** What to delete and what to make, so that the mirrors of a node show the static Pods of its host. */
interface MirrorChanges {
  drop: Pod[];
  /** By the uid on the host. */
  create: string[];
}

/** `wanted`: static Pods by their uid on the host. `present`: Pods of the node; those that are no mirrors are left alone. */
export function mirrorChanges(wanted: ReadonlyMap<string, Pod>, present: readonly Pod[]): MirrorChanges {
  const mirrors = present.filter((pod) => staticPodUid(pod) !== undefined);
  const isRight = (mirror: Pod): boolean => {
    const shown = wanted.get(staticPodUid(mirror) ?? '');
    const isSame = shown !== undefined && refText(shown.metadata) === refText(mirror.metadata);
    // One that somebody deletes is made anew: the host runs on.
    return isSame && !mirror.metadata.deletionTimestamp;
  };
  const right = new Set(mirrors.filter(isRight).map(staticPodUid));
  return {
    drop: mirrors.filter((mirror) => !isRight(mirror)),
    create: [...wanted.keys()].filter((uid) => !right.has(uid)),
  };
}
