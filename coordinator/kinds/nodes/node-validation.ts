/** Validation of Nodes (`pkg/apis/core/validation/validation.go`, ValidateNode and ValidateNodeUpdate). */
import { GRACE_KEY, graceProblem } from '../../../shared/kube/nodes/node-grace-period.js';
import type { Node, NodeSpec, Taint } from '../../../shared/kube/nodes/node-types.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';
import type { FieldError } from '../kind.js';
import { validateEffect } from '../pods/spec-validation/toleration-validation.js';
import { NOT_NEGATIVE } from '../pods/spec-validation/value-validation.js';
import { validateCidr } from '../validation/address-rules.js';
import { duplicate, forbidden, invalidValue } from '../validation/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

function validateTaint(taint: Taint, field: string): FieldError[] {
  const problems = labelValueProblems(taint.value ?? '');
  return [
    ...invalidFor(`${field}.key`, taint.key ?? '', qualifiedNameProblems(taint.key ?? '')),
    ...(problems.length > 0 ? [invalidValue(`${field}.value`, taint.value ?? '', problems.join(';'))] : []),
    ...validateEffect(taint.effect, false, `${field}.effect`),
  ];
}

/** Two taints must not have the same key and effect. */
function validateTaints(taints: readonly Taint[] | undefined, field: string): FieldError[] {
  const seen = new Set<string>();
  return (taints ?? []).flatMap((taint, index) => {
    const errors = validateTaint(taint, `${field}[${index}]`);
    const pair = `${taint.key}:${taint.effect}`;
    if (seen.has(pair)) {
      errors.push(duplicate(`${field}[${index}]`, taint, 'taints must be unique by key and effect pair'));
    }
    seen.add(pair);
    return errors;
  });
}

function validateCidrs(cidrs: readonly string[] | undefined): FieldError[] {
  return (cidrs ?? []).flatMap((cidr, index) => validateCidr(cidr, `spec.podCIDRs[${index}]`));
}

/** Refuse an invalid grace period: the fleet's default would silently apply. */
function validateGrace({ metadata }: Node): FieldError[] {
  return (['labels', 'annotations'] as const).flatMap((map) => {
    const text = metadata[map]?.[GRACE_KEY];
    const problem = text === undefined ? undefined : graceProblem(text);
    return problem ? [invalidValue(`metadata.${map}[${GRACE_KEY}]`, text ?? '', problem)] : [];
  });
}

/** Returns all errors of a Node's spec. */
export function validateNode(node: Node): FieldError[] {
  return [
    ...validateTaints(node.spec?.taints, 'spec.taints'),
    ...validateCidrs(node.spec?.podCIDRs),
    ...validateGrace(node),
  ];
}

function validateSetOnce(
  next: NodeSpec | undefined,
  current: NodeSpec | undefined,
  key: 'podCIDR' | 'providerID',
): FieldError[] {
  if (!current?.[key] || next?.[key] === current[key]) return [];
  const field = key === 'podCIDR' ? 'spec.podCIDRs' : `spec.${key}`;
  return [forbidden(field, `node updates may not change ${key} except from "" to valid`)];
}

/** Returns the errors of a change of a Node. */
export function validateNodeUpdate(next: Node, current: Node): FieldError[] {
  return [
    ...validateSetOnce(next.spec, current.spec, 'podCIDR'),
    ...validateSetOnce(next.spec, current.spec, 'providerID'),
  ];
}

function validateResources(list: 'capacity' | 'allocatable', node: Node): FieldError[] {
  return Object.entries(node.status?.[list] ?? {}).flatMap(([name, quantity]) => {
    const field = `status.${list}.${name}`;
    const errors = invalidFor(field, name, qualifiedNameProblems(name));
    if ((parseQuantity(quantity) ?? 0) < 0) errors.push(invalidValue(field, String(quantity), NOT_NEGATIVE));
    return errors;
  });
}

/** Resources must not be negative, and addresses must be unique. */
export function validateNodeStatus(next: Node): FieldError[] {
  const seen = new Set<string>();
  const addresses = (next.status?.addresses ?? []).flatMap((address, index) => {
    const text = JSON.stringify(address);
    const repeated = seen.has(text);
    seen.add(text);
    if (!repeated) return [];
    return [duplicate(`status.addresses[${index}]`, address)];
  });
  return [...validateResources('capacity', next), ...validateResources('allocatable', next), ...addresses];
}
