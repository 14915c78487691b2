/** Labels and taints that a host requests for its Node (pkg/kubelet/kubelet_node_status.go). */

import { TIME_ZONE_LABEL } from '../../shared/kube/daemonjobs/daemonjob-start.js';
import type { Taint, TaintEffect } from '../../shared/kube/nodes/node-types.js';
import { isLabelKey, isLabelValue, isSubdomain } from '../../shared/kube/objects/label-syntax.js';

const EFFECTS: readonly TaintEffect[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Returns the labels that the kubelet sets in addition to the operator's. */
export function standardLabels(
  node: string,
  operatingSystem: string,
  architecture: string,
): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': node,
    'kubernetes.io/os': operatingSystem,
  };
}

/** Returns the label with the host's time zone. Label values cannot contain a slash. */
export function timeZoneLabel(name: string | undefined): Record<string, string> {
  const value = name?.replaceAll('/', '.');
  return value && isLabelValue(value) ? { [TIME_ZONE_LABEL]: value } : {};
}

function items(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Parses `a=b,c=`. Throws an Error that names the expected format. */
export function parseLabels(text: string): Record<string, string> {
  const pairs = items(text).map((item) => {
    const at = item.indexOf('=');
    if (at <= 0) throw new Error('must be KEY=VALUE,…');
    return checked(item.slice(0, at), item.slice(at + 1));
  });
  return Object.fromEntries(pairs);
}

/** Throws an Error that names the expected format. */
export function parseNodeName(text: string): string {
  if (isSubdomain(text)) return text;
  throw new Error('must consist of lower-case letters, digits, "-" and "."');
}

function checked(key: string, value: string): [key: string, value: string] {
  if (!isLabelKey(key)) throw new Error('must have valid label keys');
  if (!isLabelValue(value)) throw new Error('must have valid label values');
  return [key, value];
}

/** Parses `key=value:Effect,key:Effect`. Throws an Error that names the expected format. */
export function parseTaints(text: string): Taint[] {
  return items(text).map((item) => {
    const match = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(item);
    const effect = EFFECTS.find((each) => each === match?.[3]);
    if (!match?.[1] || !effect)
      throw new Error(`must be KEY[=VALUE]:EFFECT,… with EFFECT one of ${EFFECTS.join(', ')}`);
    const [key, value] = checked(match[1], match[2] ?? '');
    return { key, ...(value ? { value } : {}), effect };
  });
}
