/** Static Pods and their mirrors in the API (pkg/kubelet/types/pod_update.go, pkg/kubelet/pod/mirror_client.go). */
import type { Pod } from './pod-types.js';

/** On a mirror: the uid that its static Pod has on the host. */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** On a static Pod: hash of its manifest, which is its uid. */
export const HASH_ANNOTATION = 'kubernetes.io/config.hash';
/** On a static Pod: where it comes from, always `file`. */
export const SOURCE_ANNOTATION = 'kubernetes.io/config.source';
/** On a static Pod: when the host first saw it. */
export const SEEN_ANNOTATION = 'kubernetes.io/config.seen';

/** The uid under which the host knows a mirror's Pod; undefined for a Pod that is no mirror. */
export function staticPodUid(pod: Pick<Pod, 'metadata'>): string | undefined {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION];
}

/** What a Pod that no API server has seen may not name, in upstream's plural; undefined when it names nothing (podutil HasAPIObjectReference). */
export function referencedApiObjects({ spec }: Pick<Pod, 'spec'>): string | undefined {
  // The API server copies the older name to the newer one, so a Pod that has either names an account.
  if (spec.serviceAccountName || spec.serviceAccount) return 'serviceaccounts';
  const volumes = spec.volumes ?? [];
  if (volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)) {
    return 'persistentvolumeclaims';
  }
  const hasToken = volumes.some(({ projected }) =>
    projected?.sources?.some((source) => source.serviceAccountToken),
  );
  return hasToken ? 'serviceaccounts' : undefined;
}
