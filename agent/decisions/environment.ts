/** A container's environment, and `$(VAR)` in its command and arguments (third_party/forked/golang/expansion). */
import type { Container, EnvVar, Pod } from '../../shared/kube/pod.js';
import { type FieldFacts, fieldValue, resourceValue } from './field-ref.js';

/** Replaces `$(NAME)` by its value; `$$(NAME)` stands for itself, an unknown name stays as written. */
export function expandVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string | undefined) =>
    what === '$' ? '$' : (values.get(name ?? '') ?? whole),
  );
}

export type Environment =
  | { kind: 'values'; values: ReadonlyMap<string, string> }
  | { kind: 'refused'; message: string };

/** The variables in order, later ones seeing earlier ones, or why the container cannot be configured. */
export function environmentOf(pod: Pod, container: Container, facts: FieldFacts): Environment {
  if (container.envFrom?.some((source) => !isOptional(source))) {
    return { kind: 'refused', message: 'envFrom is not supported yet' };
  }
  const values = new Map<string, string>();
  for (const variable of container.env ?? []) {
    if (!variable.valueFrom) {
      values.set(variable.name, expandVariables(variable.value ?? '', values));
      continue;
    }
    const found = valueFrom(pod, container, variable, facts);
    if (found.refused !== undefined) return { kind: 'refused', message: found.refused };
    if (found.value !== undefined) values.set(variable.name, found.value);
  }
  return { kind: 'values', values };
}

function isOptional(source: unknown): boolean {
  const { configMapRef, secretRef } = source as Record<string, { optional?: boolean } | undefined>;
  return (configMapRef ?? secretRef)?.optional === true;
}

function valueFrom(
  pod: Pod,
  container: Container,
  variable: EnvVar,
  facts: FieldFacts,
): { value?: string; refused?: string } {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = variable.valueFrom ?? {};
  if (fieldRef) {
    const value = fieldValue(pod, fieldRef.fieldPath ?? '', facts);
    return value === undefined ? { refused: `unsupported fieldPath: ${fieldRef.fieldPath}` } : { value };
  }
  if (resourceFieldRef) {
    const named = pod.spec.containers.find(({ name }) => name === resourceFieldRef.containerName);
    const { resource = '', divisor } = resourceFieldRef;
    const value = resourceValue(named ?? container, resource, divisor, facts);
    return value === undefined ? { refused: `unsupported container resource : ${resource}` } : { value };
  }
  if ((configMapKeyRef ?? secretKeyRef)?.optional) return {};
  const source = configMapKeyRef ? 'configMapKeyRef' : 'secretKeyRef';
  return { refused: `environment variable ${variable.name}: ${source} is not supported yet` };
}
