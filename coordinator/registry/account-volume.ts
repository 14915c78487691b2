/** The ServiceAccount admission plugin: a Pod is of an account, and gets its token where programs look for it. */
import { DEFAULT_ACCOUNT, ROOT_CA_CONFIG_MAP, TOKEN_MOUNT_PATH } from '../../shared/kube/account-token.js';
import type { KubeObject } from '../../shared/kube/meta.js';
import { mirroredUid } from '../../shared/kube/mirror-pod.js';
import type { Container, Pod } from '../../shared/kube/pod.js';
import type { ServiceAccount } from '../../shared/kube/service.js';
import type { Volume } from '../../shared/kube/volume.js';
import { generateName } from './generate-name.js';

/** Upstream's lifetime, odd so that it is known for one of ours: an hour and seven seconds. */
const TOKEN_SECONDS = 3607;
const MODE = 0o644;

/** Finds an account; undefined when there is none (yet). */
export type FindAccount = (ref: { namespace: string; name: string }) => ServiceAccount | undefined;

/**
 * Adds volume and mounts to a new Pod, in place, unless it or its account does not want them, and the account's pull
 * secrets where the Pod has none. A Pod that names no account is of its namespace's `default`. `find` absent: nobody
 * knows accounts here.
 */
export function mountAccount(object: KubeObject, find: FindAccount | undefined, random: () => number): void {
  if (!find || !isPod(object) || mirroredUid(object) !== undefined) return;
  const { spec, metadata } = object;
  const name = spec.serviceAccountName || DEFAULT_ACCOUNT;
  Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
  const account = find({ namespace: metadata.namespace ?? '', name });
  if (!spec.imagePullSecrets?.length && account?.imagePullSecrets?.length) {
    spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({ ...secret }));
  }
  // The default account of a namespace that is being set up will not want it.
  const byAccount = account ? account.automountServiceAccountToken : name !== DEFAULT_ACCOUNT;
  if (spec.automountServiceAccountToken ?? byAccount ?? true) mount(object, random);
}

function isPod(object: KubeObject): object is Pod {
  return object.apiVersion === 'v1' && object.kind === 'Pod';
}

function mount({ spec }: Pod, random: () => number): void {
  const containers = [...(spec.initContainers ?? []), ...spec.containers].filter(
    (container) => !hasMount(container),
  );
  if (containers.length === 0) return;
  const volume = tokenVolume(generateName('kube-api-access-', random));
  spec.volumes = [...(spec.volumes ?? []), volume];
  for (const container of containers) {
    const added = { name: volume.name, readOnly: true, mountPath: TOKEN_MOUNT_PATH };
    container.volumeMounts = [...(container.volumeMounts ?? []), added];
  }
}

function hasMount({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some(({ mountPath }) => mountPath === TOKEN_MOUNT_PATH);
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      defaultMode: MODE,
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: ROOT_CA_CONFIG_MAP, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
}
