/** ServiceAccount tokens in Pods: projected volumes (plugin/pkg/admission/serviceaccount). */
import type { Pod } from '../pods/pod-types.js';
import type { VolumeProjection } from '../pods/volume-types.js';

export type TokenSource = NonNullable<VolumeProjection['serviceAccountToken']>;

/** Directory in which client libraries expect the token, the CA certificate and the namespace. */
export const TOKEN_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Name of the ConfigMap with the CA certificate of the API server. */
export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
/** Account of Pods that name none. Every namespace has it. */
export const DEFAULT_ACCOUNT = 'default';
/** Upstream's default lifetime. */
export const DEFAULT_TOKEN_SECONDS = 3600;

/** Returns all token projections of the Pod's volumes. */
export function serviceAccountTokenSources({ spec }: Pick<Pod, 'spec'>): TokenSource[] {
  return (spec.volumes ?? []).flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []),
  );
}
