/** Validation of DaemonSetOverrides. */
import type {
  ContainerOverride,
  DaemonSetOverride,
  DaemonSetOverrideSpec,
} from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { EnvVar } from '../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../kind.js';
import { validateEnv } from '../pods/spec-validation/env-validation.js';
import { validateResources } from '../pods/spec-validation/resource-validation.js';
import { validateVolumes } from '../pods/spec-validation/volume-validation.js';
import { duplicate, invalidValue, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const MAX_INT32 = 2 ** 31 - 1;

function validatePriority(priority: number | undefined): FieldError[] {
  if (priority === undefined || (Number.isInteger(priority) && Math.abs(priority) <= MAX_INT32)) return [];
  return [invalidValue('spec.priority', priority, 'must be a 32-bit integer')];
}

/** Two entries with one name would contradict each other without an error. */
function validateUnique(items: readonly { name: string }[], field: string): FieldError[] {
  const names = new Set<string>();
  return items.flatMap(({ name }, index) => {
    const isTwice = names.has(name);
    names.add(name);
    return isTwice && name ? [duplicate(`${field}[${index}].name`, name)] : [];
  });
}

function validateName(name: string | undefined, field: string): FieldError[] {
  return name ? invalidFor(field, name, dnsLabelProblems(name)) : [required(field)];
}

function isEmpty({ image, resources, env }: ContainerOverride): boolean {
  const quantities = { ...resources?.limits, ...resources?.requests };
  return image === undefined && Object.keys(quantities).length === 0 && !env?.length;
}

function validateImage(image: string | undefined, field: string): FieldError[] {
  if (image === undefined) return [];
  if (image === '') return [required(field, 'or omit the field to keep the image of the DaemonSet')];
  const isPadded = image.trim() !== image;
  return isPadded ? [invalidValue(field, image, 'must not have leading or trailing whitespace')] : [];
}

function validateContainer(container: ContainerOverride, field: string): FieldError[] {
  const { name, image, resources } = container;
  const env: readonly EnvVar[] = container.env ?? [];
  return [
    ...validateName(name, `${field}.name`),
    ...(isEmpty(container) ? [required(field, 'must set image, resources or env')] : []),
    ...validateImage(image, `${field}.image`),
    ...validateResources(resources, `${field}.resources`),
    ...validateEnv(env, `${field}.env`),
    ...validateUnique(env, `${field}.env`),
  ];
}

function validateChanges({ containers = [], volumes = [] }: DaemonSetOverrideSpec): FieldError[] {
  const isUseless = containers.length === 0 && volumes.length === 0;
  return [
    ...(isUseless ? [required('spec.containers', 'must set containers or volumes')] : []),
    ...containers.flatMap((each, index) => validateContainer(each, `spec.containers[${index}]`)),
    ...validateUnique(containers, 'spec.containers'),
    ...validateVolumes(volumes, 'spec.volumes').errors,
  ];
}

/** Returns all errors of an override. Whether its containers and volumes exist is decided for each DaemonSet. */
export function validateDaemonSetOverride({ spec }: DaemonSetOverride): FieldError[] {
  if (!spec) return [required('spec')];
  return [
    ...(spec.daemonSetName
      ? invalidFor('spec.daemonSetName', spec.daemonSetName, dnsSubdomainProblems(spec.daemonSetName))
      : [required('spec.daemonSetName')]),
    ...validateLabelSelector(spec.nodeSelector, 'spec.nodeSelector'),
    ...validatePriority(spec.priority),
    ...validateChanges(spec),
  ];
}
