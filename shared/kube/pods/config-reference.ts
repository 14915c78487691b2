/** ConfigMaps and Secrets that a Pod references. Its host receives these and no others. */
import { secretsOfValues } from '../host-values/rendered-values.js';
import type { ConfigMap, Secret } from '../objects/config-types.js';
import type { KubeObject } from '../objects/meta.js';
import type { Container, Pod } from './pod-types.js';
import type { Volume, VolumeProjection } from './volume-types.js';

export interface ConfigReference {
  kind: 'ConfigMap' | 'Secret';
  namespace: string;
  name: string;
}

type Named = Omit<ConfigReference, 'namespace'>;

/** Returns a key for maps and sets, such as `Secret/default/token`. */
export function configKey({ kind, namespace, name }: ConfigReference): string {
  return `${kind}/${namespace}/${name}`;
}

export function isConfigObject(object: KubeObject): object is ConfigMap | Secret {
  return object.kind === 'ConfigMap' || object.kind === 'Secret';
}

export function configReferenceTo({ kind, metadata }: KubeObject): ConfigReference {
  return { kind: kind as ConfigReference['kind'], namespace: metadata.namespace ?? '', name: metadata.name };
}

/** Returns all references of the Pod, optional ones included (pkg/api/v1/pod VisitPodSecretNames). */
export function configReferences(pod: Pick<Pod, 'metadata' | 'spec'>): ConfigReference[] {
  const { spec, metadata } = pod;
  const containers = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const named = [
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }) => reference('Secret', name)),
    ...(spec.volumes ?? []).flatMap(ofVolume),
    ...containers.flatMap(ofContainer),
    ...secretsOfValues(pod).flatMap((name) => reference('Secret', name)),
  ];
  const namespace = metadata.namespace ?? '';
  const references = new Map<string, ConfigReference>();
  for (const each of named) {
    const whole = { ...each, namespace };
    references.set(configKey(whole), whole);
  }
  return [...references.values()];
}

function reference(kind: Named['kind'], name: string | undefined): Named[] {
  return name ? [{ kind, name }] : [];
}

function ofContainer({ env, envFrom }: Container): Named[] {
  return [
    ...(envFrom ?? []).flatMap(({ configMapRef, secretRef }) => [
      ...reference('ConfigMap', configMapRef?.name),
      ...reference('Secret', secretRef?.name),
    ]),
    ...(env ?? []).flatMap(({ valueFrom }) => [
      ...reference('ConfigMap', valueFrom?.configMapKeyRef?.name),
      ...reference('Secret', valueFrom?.secretKeyRef?.name),
    ]),
  ];
}

function ofVolume({ configMap, secret, projected }: Volume): Named[] {
  return [
    ...reference('ConfigMap', configMap?.name),
    ...reference('Secret', secret?.secretName),
    ...(projected?.sources ?? []).flatMap(ofProjection),
  ];
}

function ofProjection({ configMap, secret }: VolumeProjection): Named[] {
  return [...reference('ConfigMap', configMap?.name), ...reference('Secret', secret?.name)];
}
