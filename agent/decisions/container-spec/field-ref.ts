/** Values of `fieldRef` and `resourceFieldRef` (pkg/fieldpath, pkg/api/v1/resource). */

import {
  isSecretValue,
  parseValuePath,
  renderedValues,
} from '../../../shared/kube/host-values/rendered-values.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { parseQuantity, type Quantity } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { goQuote } from './go-quote.js';

/** Facts of the host and the engine that a Pod may refer to. */
export interface FieldFacts {
  nodeName: string;
  hostIP: string;
  /** Address of the Pod; empty while unknown. */
  podIP: string;
  /** Allocatable resources of the node, the default of missing limits. */
  allocatable: Record<string, Quantity>;
}

const SUBSCRIPT = /^metadata\.(labels|annotations)\['(.+)'\]$/;

/** The text of a field, the key of a Secret that holds it, or why there is none. */
export type FieldValue =
  | { kind: 'text'; text: string }
  | { kind: 'secret'; name: string; key: string }
  | { kind: 'refused'; message: string };

/**
 * Returns the value of a field of the Pod or of a value of its host. Values of the host come from the Pod's annotation
 * alone: otherwise a Pod could show other values than those that it was created for.
 */
export function fieldValue(pod: Pod, path: string, facts: FieldFacts): FieldValue {
  if (parseValuePath(path)) return hostValue(pod, path);
  const text = podField(pod, path, facts);
  return text === undefined
    ? { kind: 'refused', message: `unsupported fieldPath: ${path}` }
    : { kind: 'text', text };
}

function hostValue(pod: Pod, path: string): FieldValue {
  const value = renderedValues(pod).get(path);
  if (value === undefined) {
    const message = `the Pod was created without a value for ${path}: only Pods of a DaemonSet get values of their host`;
    return { kind: 'refused', message };
  }
  return isSecretValue(value) ? { kind: 'secret', ...value.secretKeyRef } : { kind: 'text', text: value };
}

/** Returns the field as text; undefined for an unsupported path. */
function podField(pod: Pod, path: string, facts: FieldFacts): string | undefined {
  const subscript = SUBSCRIPT.exec(path);
  if (subscript) {
    const map = subscript[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations;
    return ownValue(map, subscript[2] ?? '') ?? '';
  }
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.labels':
      return mapText(pod.metadata.labels);
    case 'metadata.annotations':
      return mapText(pod.metadata.annotations);
    case 'metadata.namespace':
      return pod.metadata.namespace ?? '';
    case 'metadata.uid':
      return pod.metadata.uid ?? '';
    case 'spec.nodeName':
      return facts.nodeName;
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return facts.hostIP;
    case 'status.podIP':
    case 'status.podIPs':
      return pod.spec.hostNetwork ? facts.hostIP : facts.podIP;
    default:
      return undefined;
  }
}

/** Returns sorted lines of `key="value"` (pkg/fieldpath FormatMap). */
function mapText(map: Record<string, string> = {}): string {
  const keys = Object.keys(map).sort();
  return keys.map((key) => `${key}=${goQuote(map[key] ?? '')}`).join('\n');
}

/** Returns `limits.memory` and the like, divided by `divisor` and rounded up; undefined for an unsupported resource. */
export function resourceValue(
  container: Container,
  resource: string,
  divisor: Quantity | undefined,
  facts: FieldFacts,
): string | undefined {
  const [kind, name] = resource.split('.') as [string, string | undefined];
  if ((kind !== 'limits' && kind !== 'requests') || !name) return undefined;
  const set = ownValue(container.resources?.[kind], name);
  const fallback = kind === 'limits' ? ownValue(facts.allocatable, name) : '0';
  const value = parseQuantity(set ?? fallback);
  if (value === undefined) return undefined;
  const unit = parseQuantity(divisor) || 1;
  return String(Math.ceil(Number((value / unit).toFixed(6))));
}
