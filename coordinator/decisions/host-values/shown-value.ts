/** Overrides and values of a host as users see them. */
import { isSecretValue } from '../../../shared/kube/host-values/rendered-values.js';
import { fieldText } from '../overrides/override-fields.js';
import type { OverriddenField } from '../overrides/override-resolution.js';
import type { NodeValues, ResolvedValue } from './value-resolution.js';

/**
 * `path`: a `fieldPath` such as `hostValues['store']`, or an overridden field such as `containers[till].image`. `from`:
 * the object that the value comes from. A value in a Secret is shown as its reference.
 */
export interface ShownValue {
  path: string;
  value: string;
  from: string;
}

interface Settings {
  applied: readonly OverriddenField[];
  values?: { resolved: Extract<NodeValues, { kind: 'resolved' }> };
}

/** Returns what makes the Pod of a host differ from the template: overridden fields first, then values. */
export function shownSettings({ applied, values }: Settings): ShownValue[] {
  const overridden = applied.map((field) => {
    return { path: field.path, value: fieldText(field), from: `DaemonSetOverride ${field.from}` };
  });
  return [...overridden, ...(values?.resolved.values ?? []).map(shownValue)];
}

function shownValue({ path, value, from }: ResolvedValue): ShownValue {
  const text = isSecretValue(value)
    ? `key ${value.secretKeyRef.key} of Secret ${value.secretKeyRef.name}`
    : value;
  return { path, value: text, from: from === undefined ? 'the Node' : `HostValues ${from}` };
}
