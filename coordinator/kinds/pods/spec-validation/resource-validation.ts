/** Validation of requests and limits. */

import { ownValue } from '../../../../shared/kube/objects/label-syntax.js';
import { parseQuantity, type Quantity } from '../../../../shared/kube/objects/quantity.js';
import type { ResourceList, ResourceRequirements } from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, required } from '../../validation/field-error.js';
import { qualifiedNameProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';
import { NOT_NEGATIVE } from './value-validation.js';

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** True for Kubernetes' own resources, in contrast to extended ones such as `example.com/gpu`. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function validateName(name: string, field: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return invalidFor(field, name, problems);
  if (!name.includes('/')) {
    const standard = CONTAINER_RESOURCES.has(name) || isHugePages(name);
    return standard ? [] : [invalidValue(field, name, 'must be a standard resource for containers')];
  }
  if (!isNative(name) && name.startsWith('requests.')) {
    return [invalidValue(field, name, "doesn't follow extended resource name standard")];
  }
  return [];
}

function validateQuantity(name: string, quantity: Quantity, field: string): FieldError[] {
  const value = parseQuantity(quantity) ?? 0;
  const errors = value < 0 ? [invalidValue(field, String(quantity), NOT_NEGATIVE)] : [];
  if (!isNative(name) && !Number.isInteger(value)) {
    errors.push(invalidValue(field, String(quantity), 'must be an integer'));
  }
  return errors;
}

/** Reports errors of each entry at a path such as `limits[cpu]`. */
export function validateResourceList(list: ResourceList | undefined, field: string): FieldError[] {
  return Object.entries(list ?? {}).flatMap(([name, quantity]) => {
    const path = `${field}[${name}]`;
    return [...validateName(name, path), ...validateQuantity(name, quantity, path)];
  });
}

/** Huge pages and extended resources cannot be overcommitted: their request must equal their limit. */
function validateAgainstLimit(
  name: string,
  request: Quantity,
  limits: ResourceList,
  field: string,
): FieldError[] {
  const limit = ownValue(limits, name);
  const overcommit = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    return overcommit
      ? []
      : [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const asked = parseQuantity(request) ?? 0;
  const allowed = parseQuantity(limit) ?? 0;
  const path = `${field}.requests`;
  if (!overcommit && asked !== allowed) {
    return [invalidValue(path, String(request), `must be equal to ${name} limit of ${limit}`)];
  }
  if (asked <= allowed) return [];
  return [invalidValue(path, String(request), `must be less than or equal to ${name} limit of ${limit}`)];
}

export function validateResources(resources: ResourceRequirements | undefined, field: string): FieldError[] {
  const limits = resources?.limits ?? {};
  const requests = resources?.requests ?? {};
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const alone = names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
  return [
    ...validateResourceList(limits, `${field}.limits`),
    ...validateResourceList(requests, `${field}.requests`),
    ...Object.entries(requests).flatMap(([name, request]) =>
      validateAgainstLimit(name, request, limits, field),
    ),
    ...(alone ? [forbidden(field, 'HugePages require cpu or memory')] : []),
  ];
}
