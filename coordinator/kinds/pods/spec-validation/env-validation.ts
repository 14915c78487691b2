/** Validation of container environments. */
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  KeySelector,
} from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, required } from '../../validation/field-error.js';
import { configMapKeyProblems, dnsSubdomainProblems, envNameProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';
import { ENV_FIELDS, validateFieldRef, validateResourceRef } from './field-reference-validation.js';

const ONE_ONLY = 'may not have more than one field specified at a time';

function validateKeySelector(selector: KeySelector | undefined, field: string): FieldError[] {
  if (!selector) return [];
  const name = selector.name ?? '';
  const nameErrors = invalidFor(`${field}.name`, name, dnsSubdomainProblems(name));
  if (!selector.key) return [...nameErrors, required(`${field}.key`)];
  return [...nameErrors, ...invalidFor(`${field}.key`, selector.key, configMapKeyProblems(selector.key))];
}

function validateSource(source: EnvVarSource, field: string): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, ENV_FIELDS, `${field}.fieldRef`) : []),
    ...(resourceFieldRef ? validateResourceRef(resourceFieldRef, false, `${field}.resourceFieldRef`) : []),
    ...validateKeySelector(configMapKeyRef, `${field}.configMapKeyRef`),
    ...validateKeySelector(secretKeyRef, `${field}.secretKeyRef`),
  ];
}

function validateValueFrom(variable: EnvVar, field: string): FieldError[] {
  if (!variable.valueFrom) return [];
  const errors = validateSource(variable.valueFrom, field);
  const sources = Object.keys(variable.valueFrom).length;
  if (sources === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    return [...errors, invalidValue(field, '', detail)];
  }
  if (variable.value)
    return [...errors, invalidValue(field, '', 'may not be specified when `value` is not empty')];
  return sources > 1 ? [...errors, invalidValue(field, '', ONE_ONLY)] : errors;
}

export function validateEnv(variables: readonly EnvVar[] | undefined, field: string): FieldError[] {
  return (variables ?? []).flatMap((variable, index) => {
    const path = `${field}[${index}]`;
    const name = variable.name
      ? invalidFor(`${path}.name`, variable.name, envNameProblems(variable.name))
      : [required(`${path}.name`)];
    return [...name, ...validateValueFrom(variable, `${path}.valueFrom`)];
  });
}

function validateReference(name: string | undefined, field: string): FieldError[] {
  return name ? invalidFor(field, name, dnsSubdomainProblems(name)) : [required(field)];
}

function validateEnvFromSource(source: EnvFromSource, path: string, field: string): FieldError[] {
  const errors = source.prefix
    ? invalidFor(`${path}.prefix`, source.prefix, envNameProblems(source.prefix))
    : [];
  const references = (['configMapRef', 'secretRef'] as const).filter((key) => source[key]);
  for (const key of references) errors.push(...validateReference(source[key]?.name, `${path}.${key}.name`));
  if (references.length === 0) {
    errors.push(invalidValue(field, '', 'must specify one of: `configMapRef` or `secretRef`'));
  }
  return references.length > 1 ? [...errors, invalidValue(field, '', ONE_ONLY)] : errors;
}

/** Upstream reports errors of a whole source at the list. */
export function validateEnvFrom(sources: readonly EnvFromSource[] | undefined, field: string): FieldError[] {
  return (sources ?? []).flatMap((source, index) =>
    validateEnvFromSource(source, `${field}[${index}]`, field),
  );
}
