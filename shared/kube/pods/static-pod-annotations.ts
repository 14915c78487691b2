/** Static Pods and their mirror Pods (pkg/kubelet/types/pod_update.go, pkg/kubelet/pod/mirror_client.go). */
import type { Pod } from './pod-types.js';

/** On a mirror Pod: the uid of its static Pod on the host. */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** On a static Pod: the hash of its manifest, which is also its uid. */
export const HASH_ANNOTATION = 'kubernetes.io/config.hash';
/** On a static Pod: its source, always `file`. */
export const SOURCE_ANNOTATION = 'kubernetes.io/config.source';
/** On a static Pod: the time when the host first saw it. */
export const SEEN_ANNOTATION = 'kubernetes.io/config.seen';

/** Returns the uid of the static Pod that this Pod mirrors, or undefined if it is not a mirror Pod. */
export function staticPodUid(pod: Pick<Pod, 'metadata'>): string | undefined {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION];
}

/** Returns a kind of API object in the Pod, which static Pods must not use (podutil HasAPIObjectReference). */
export function referencedApiObjects({ spec }: Pick<Pod, 'spec'>): string | undefined {
  // `serviceAccount` is the deprecated name of `serviceAccountName`.
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
