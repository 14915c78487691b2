/** The ServiceAccount admission plugin: sets the account of a new Pod and mounts its token at the standard path. */
import {
  DEFAULT_ACCOUNT,
  ROOT_CA_CONFIG_MAP,
  TOKEN_MOUNT_PATH,
} from '../../../shared/kube/access/service-account-token.js';
import type { ServiceAccount } from '../../../shared/kube/access/service-account-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { Volume } from '../../../shared/kube/pods/volume-types.js';
import type { Store } from '../../store/store.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { FindAccount } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';
import { accountKey } from '../storage-keys.js';
import { assumedObject } from './namespace-lifecycle.js';
import { generateName, isPod } from './write-admission.js';

/** Upstream's token lifetime: one hour and seven seconds. Tools recognise mounted tokens by this odd number. */
const TOKEN_SECONDS = 3607;
const MODE = 0o644;

type AccountRef = Parameters<FindAccount>[0];

/**
 * Returns `find` for one new Pod. The informer behind `find` may lag behind a client that has just created the account,
 * so a missing account is looked up in the store (`getServiceAccount` upstream).
 */
export async function accountFinder(
  store: Store,
  find: FindAccount | undefined,
  object: KubeObject,
  { assumed }: Pick<WriteOptions, 'assumed'>,
): Promise<FindAccount | undefined> {
  if (!find || !isPod(object)) return find;
  const ref = accountOf(object);
  const found =
    assumedObject<ServiceAccount>(assumed, 'ServiceAccount', ref) ??
    find(ref) ??
    (await storedAccount(store, ref));
  return () => found;
}

async function storedAccount(store: Store, { namespace, name }: AccountRef) {
  const stored = await store.get(accountKey(namespace, name));
  return stored && decodeShared<ServiceAccount>(stored.value, stored.revision);
}

function accountOf({ spec, metadata }: Pod): AccountRef {
  return { namespace: metadata.namespace ?? '', name: spec.serviceAccountName || DEFAULT_ACCOUNT };
}

/**
 * Throws 403 for a new Pod whose account does not exist. The account `default` may be missing, because its controller
 * creates it shortly after the namespace.
 */
export function refuseMissingAccount(object: KubeObject, find: FindAccount | undefined): void {
  if (!find || !isPod(object) || staticPodUid(object) !== undefined) return;
  const ref = accountOf(object);
  if (ref.name !== DEFAULT_ACCOUNT && !find(ref)) throw missingAccount(object, ref);
}

function missingAccount({ metadata }: Pod, { namespace, name }: AccountRef): ApiError {
  const pod = metadata.generateName || metadata.name;
  const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  return new ApiError('Forbidden', `pods "${pod}" is forbidden: ${why}`, { name: pod, kind: 'pods' });
}

/**
 * Sets account, token volume, token mounts and pull secrets of a new Pod, in place. Pod and account can disable the
 * token mount. A Pod without an account name uses `default`. If `find` is absent, the Pod stays unchanged. Throws 403
 * if the account does not exist.
 */
export function mountServiceAccountToken(
  object: KubeObject,
  find: FindAccount | undefined,
  random: () => number,
): void {
  if (!find || !isPod(object) || staticPodUid(object) !== undefined) return;
  refuseMissingAccount(object, find);
  const { spec } = object;
  const ref = accountOf(object);
  const { name } = ref;
  Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
  const account = find(ref);
  if (!spec.imagePullSecrets?.length && account?.imagePullSecrets?.length) {
    spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({ ...secret }));
  }
  // If the account `default` does not exist yet, the Pod starts without a token.
  const byAccount = account ? account.automountServiceAccountToken : name !== DEFAULT_ACCOUNT;
  if (spec.automountServiceAccountToken ?? byAccount ?? true) mount(object, random);
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
