/** Mirror Pods show static Pods in the API (pkg/kubelet/pod/mirror_client.go, plugin NodeRestriction). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import { configReferences } from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  MIRROR_ANNOTATION,
  referencedApiObjects,
  staticPodUid,
} from '../../../shared/kube/pods/static-pod-annotations.js';

/** The mirror to store, or the reason for its refusal. */
export type Mirror = { kind: 'mirror'; pod: Pod } | { kind: 'refused'; message: string };

/** Returns the mirror of a static Pod, with only the fields that a host may set. `hostUid`: uid on the host. */
export function mirrorOf(pod: Pod, hostUid: string, node: Pick<Node, 'metadata'>): Mirror {
  const { name, namespace, labels, annotations } = pod.metadata;
  const { name: nodeName, uid = '' } = node.metadata;
  // Otherwise a host could occupy the name of a Pod of another host or of a controller.
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

/** The changes after which the mirrors of a node match the static Pods of its host. */
interface MirrorChanges {
  drop: Pod[];
  /** Uids on the host. */
  create: string[];
}

/** `wanted`: static Pods by their uid on the host. `present`: all Pods of the node. */
export function mirrorChanges(wanted: ReadonlyMap<string, Pod>, present: readonly Pod[]): MirrorChanges {
  const mirrors = present.filter((pod) => staticPodUid(pod) !== undefined);
  const isRight = (mirror: Pod): boolean => {
    const shown = wanted.get(staticPodUid(mirror) ?? '');
    const isSame = shown !== undefined && refText(shown.metadata) === refText(mirror.metadata);
    // A deleted mirror is created again, because the host still runs the static Pod.
    return isSame && !mirror.metadata.deletionTimestamp;
  };
  const right = new Set(mirrors.filter(isRight).map(staticPodUid));
  return {
    drop: mirrors.filter((mirror) => !isRight(mirror)),
    create: [...wanted.keys()].filter((uid) => !right.has(uid)),
  };
}
