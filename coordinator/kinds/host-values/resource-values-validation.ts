/** Validation of annotations that replace a quantity of a container by a host value. */
import {
  containersOf,
  parseResourceUse,
  RESOURCE_PREFIX,
} from '../../../shared/kube/host-values/resource-values.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../kind.js';
import { invalidValue, notSupported } from '../validation/field-error.js';
import { configMapKeyProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const RESOURCES = ['cpu', 'ephemeral-storage', 'memory'];

/** A mistyped annotation would silently have no effect, so it is an error. */
export function validateResourceValues(template: PodTemplateSpec, field: string): FieldError[] {
  const names = new Set(containersOf(template).map(({ name }) => name));
  return Object.entries(template.metadata?.annotations ?? {}).flatMap(([annotation, key]) => {
    if (!annotation.startsWith(RESOURCE_PREFIX)) return [];
    const path = `${field}.metadata.annotations[${annotation}]`;
    const use = parseResourceUse(annotation);
    if (!use) {
      const form = `must be ${RESOURCE_PREFIX}CONTAINER.limits.RESOURCE or ${RESOURCE_PREFIX}CONTAINER.requests.RESOURCE`;
      return [invalidValue(path, annotation, form)];
    }
    return [
      ...(names.has(use.container) ? [] : [notSupported(path, use.container, [...names])]),
      ...(RESOURCES.includes(use.resource) ? [] : [notSupported(path, use.resource, RESOURCES)]),
      ...invalidFor(path, key, configMapKeyProblems(key)),
    ];
  });
}
