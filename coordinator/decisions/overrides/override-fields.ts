/** The fields that a DaemonSetOverride changes, one by one: each has its own precedence. */
import { isDeepStrictEqual } from 'node:util';
import type { DaemonSetOverrideSpec } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import type { Quantity } from '../../../shared/kube/objects/quantity.js';
import type { EnvVar } from '../../../shared/kube/pods/pod-types.js';
import type { Volume } from '../../../shared/kube/pods/volume-types.js';

/** `path` identifies the field in a Pod, such as `containers[till].env[STORE]`. */
export type OverrideField = { path: string } & (
  | { kind: 'image'; container: string; value: string }
  | {
      kind: 'resource';
      container: string;
      list: 'limits' | 'requests';
      resource: string;
      value: Quantity;
    }
  | { kind: 'env'; container: string; value: EnvVar }
  | { kind: 'volume'; value: Volume }
);

const LISTS = ['limits', 'requests'] as const;

/** Returns all fields that the override sets. */
export function overrideFields({ containers = [], volumes = [] }: DaemonSetOverrideSpec): OverrideField[] {
  const ofContainers = containers.flatMap(({ name: container, image, resources, env = [] }) => {
    const at = `containers[${container}]`;
    const images: OverrideField[] =
      image === undefined ? [] : [{ path: `${at}.image`, kind: 'image', container, value: image }];
    const quantities = LISTS.flatMap((list) =>
      Object.entries(resources?.[list] ?? {}).map(([resource, value]): OverrideField => {
        const path = `${at}.resources.${list}.${resource}`;
        // Equal quantities must make equal Pods, however they are written.
        return { path, kind: 'resource', container, list, resource, value: canonicalQuantity(value) };
      }),
    );
    const variables = env.map((value): OverrideField => {
      return { path: `${at}.env[${value.name}]`, kind: 'env', container, value };
    });
    return [...images, ...quantities, ...variables];
  });
  const ofVolumes = volumes.map((value): OverrideField => {
    return { path: `volumes[${value.name}]`, kind: 'volume', value };
  });
  return [...ofContainers, ...ofVolumes];
}

/** Returns true if both make the same Pod. `1Gi` and `1024Mi` do. */
export function isSameValue(kind: OverrideField['kind'], one: unknown, other: unknown): boolean {
  if (kind !== 'resource' || one === undefined || other === undefined) return isDeepStrictEqual(one, other);
  return canonicalQuantity(String(one)) === canonicalQuantity(String(other));
}

/** Returns the value as one line for users. A variable or volume from a source is shown as JSON. */
export function fieldText(field: OverrideField): string {
  switch (field.kind) {
    case 'image':
      return field.value;
    case 'resource':
      return String(field.value);
    case 'env':
      return field.value.valueFrom ? JSON.stringify(field.value.valueFrom) : (field.value.value ?? '');
    case 'volume': {
      const { name: _, ...source } = field.value;
      return JSON.stringify(source);
    }
  }
}
