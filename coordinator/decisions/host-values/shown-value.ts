/** A value of a host as users see it. */
import { isSecretValue } from '../../../shared/kube/host-values/rendered-values.js';
import type { ResolvedValue } from './value-resolution.js';

/** `from`: the object that the value comes from. A value in a Secret is shown as its reference. */
export interface ShownValue {
  path: string;
  value: string;
  from: string;
}

export function shownValue({ path, value, from }: ResolvedValue): ShownValue {
  const text = isSecretValue(value)
    ? `key ${value.secretKeyRef.key} of Secret ${value.secretKeyRef.name}`
    : value;
  return { path, value: text, from: from === undefined ? 'the Node' : `HostValues ${from}` };
}
