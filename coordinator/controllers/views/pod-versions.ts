/** Which version of a DaemonSet is on which nodes. */
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/** The nodes with a Pod of one revision. A node with a surplus Pod of an update is in two of them. */
export interface PodVersion {
  /** The hash of the revision. */
  revision: string;
  /** Images of the containers, in their order. */
  images: string[];
  count: number;
  /** Sorted. */
  nodes: string[];
}

/** Gathers the Pods of a DaemonSet by revision. Pods that are being deleted do not count. */
export class PodVersions {
  readonly #byRevision = new Map<string, { images: string[]; nodes: Set<string> }>();

  add(nodeName: string, { metadata, spec }: Pod): void {
    if (metadata.deletionTimestamp) return;
    const revision = metadata.labels?.[REVISION_HASH_LABEL] ?? '';
    const found = this.#byRevision.get(revision);
    if (found) found.nodes.add(nodeName);
    else {
      const images = spec.containers.map(({ image = '' }) => image);
      this.#byRevision.set(revision, { images, nodes: new Set([nodeName]) });
    }
  }

  mostFrequentFirst(): PodVersion[] {
    const versions = [...this.#byRevision].map(([revision, { images, nodes }]) => {
      return { revision, images, count: nodes.size, nodes: [...nodes].sort() };
    });
    return versions.sort((a, b) => b.count - a.count || (a.revision < b.revision ? -1 : 1));
  }
}
