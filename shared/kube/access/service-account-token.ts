/** How Pods come by a token of their ServiceAccount: volumes of the projected kind (plugin/pkg/admission/serviceaccount). */
import type { Pod } from '../pods/pod-types.js';
import type { VolumeProjection } from '../pods/volume-types.js';

export type TokenSource = NonNullable<VolumeProjection['serviceAccountToken']>;

/** Where programs in containers look for the token, the authority and the namespace. */
export const TOKEN_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The ConfigMap by which Pods name the authority that the API is trusted by. */
export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
/** The account of Pods that name none; each namespace has it. */
export const DEFAULT_ACCOUNT = 'default';
/** Upstream's default. */
export const DEFAULT_TOKEN_SECONDS = 3600;

/** Every token that the Pod's volumes ask for. */
export function serviceAccountTokenSources({ spec }: Pick<Pod, 'spec'>): TokenSource[] {
  return (spec.volumes ?? []).flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []),
  );
}
