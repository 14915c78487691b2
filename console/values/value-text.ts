/** Values of hosts as words. Pure. */
import type { HostValue } from '../../shared/kube/host-values/host-values-types.js';
import { isSecretValue } from '../../shared/kube/host-values/rendered-values.js';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';

/** Longer values are cut. The page of the object has them whole. */
const MOST_CHARACTERS = 120;

/** Returns the value, or for a value in a Secret where it is. */
export function valueText(value: HostValue): string {
  if (isSecretValue(value)) return `key ${value.secretKeyRef.key} of Secret ${value.secretKeyRef.name}`;
  return value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
}

export const FLEET_API = `/apis/${FLEET_GROUP}/v1`;

/** Returns the path of a collection of HostValues or of effective values. */
export function valuesPath(resource: string, namespace: string): string {
  return namespace === '' ? `${FLEET_API}/${resource}` : `${FLEET_API}/namespaces/${namespace}/${resource}`;
}
