/**
 * Environment variables of a container, and `$(VAR)` in its command and arguments
 * (third_party/forked/golang/expansion).
 */
import { serviceAccountTokenSources } from '../../../shared/kube/access/service-account-token.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';
import type {
  Container,
  EnvFromSource,
  EnvVar,
  KeySelector,
  Pod,
} from '../../../shared/kube/pods/pod-types.js';
import { configTexts, type FindConfig, notFoundMessage } from './config-lookup.js';
import { type FieldFacts, fieldValue, resourceValue } from './field-ref.js';

/** Replaces `$(NAME)` by its value. `$$(NAME)` becomes `$(NAME)`; an unknown name remains unchanged. */
export function expandVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string | undefined) =>
    what === '$' ? '$' : (values.get(name ?? '') ?? whole),
  );
}

export type Environment =
  | { kind: 'values'; values: ReadonlyMap<string, string> }
  | { kind: 'refused'; message: string };

/** Facts that variables may refer to. */
export interface EnvironmentFacts extends FieldFacts {
  findConfig: FindConfig;
  /** Address of the API for Pods; absent on hosts without one. */
  apiServer?: { host: string; port: string };
}

/**
 * Returns the variables in order, where later ones may refer to earlier ones; or why the container cannot be
 * configured.
 */
export function environmentOf(pod: Pod, container: Container, facts: EnvironmentFacts): Environment {
  const values = new Map<string, string>(apiVariables(pod, facts));
  for (const source of container.envFrom ?? []) {
    const found = allOf(pod, source, facts.findConfig);
    if (found.refused !== undefined) return { kind: 'refused', message: found.refused };
    for (const [key, value] of found.value ?? []) values.set(`${source.prefix ?? ''}${key}`, value);
  }
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

/** Returns the variables by which clients in a container find the API. Only Pods with a token can use it. */
function apiVariables(pod: Pod, { apiServer }: EnvironmentFacts): [string, string][] {
  if (!apiServer || serviceAccountTokenSources(pod).length === 0) return [];
  return [
    ['KUBERNETES_SERVICE_HOST', apiServer.host],
    ['KUBERNETES_SERVICE_PORT', apiServer.port],
    ['KUBERNETES_SERVICE_PORT_HTTPS', apiServer.port],
  ];
}

/** Empty for a missing optional source. */
type Found<T> = { value?: T; refused?: string };

function allOf(
  pod: Pod,
  { configMapRef, secretRef }: EnvFromSource,
  find: FindConfig,
): Found<ReadonlyMap<string, string>> {
  const named = configMapRef ?? secretRef;
  if (!named) return {};
  return textsOf(referenceTo(pod, configMapRef ? 'ConfigMap' : 'Secret', named.name), named.optional, find);
}

function textsOf(
  reference: ConfigReference,
  optional: boolean | undefined,
  find: FindConfig,
): Found<ReadonlyMap<string, string>> {
  const object = find(reference);
  if (object) return { value: configTexts(object) };
  return optional ? {} : { refused: notFoundMessage(reference) };
}

function referenceTo(pod: Pod, kind: ConfigReference['kind'], name = ''): ConfigReference {
  return { kind, namespace: pod.metadata.namespace ?? '', name };
}

function keyOf(reference: ConfigReference, { key, optional }: KeySelector, find: FindConfig): Found<string> {
  const texts = textsOf(reference, optional, find);
  if (!texts.value) return { ...(texts.refused !== undefined && { refused: texts.refused }) };
  const value = texts.value.get(key);
  if (value !== undefined) return { value };
  const { kind, namespace, name } = reference;
  return optional ? {} : { refused: `couldn't find key ${key} in ${kind} ${namespace}/${name}` };
}

function valueFrom(pod: Pod, container: Container, variable: EnvVar, facts: EnvironmentFacts): Found<string> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = variable.valueFrom ?? {};
  if (fieldRef) {
    const field = fieldValue(pod, fieldRef.fieldPath ?? '', facts);
    if (field.kind === 'refused') return { refused: field.message };
    if (field.kind === 'text') return { value: field.text };
    return keyOf(referenceTo(pod, 'Secret', field.name), { key: field.key }, facts.findConfig);
  }
  if (resourceFieldRef) {
    const { containerName, resource = '', divisor } = resourceFieldRef;
    const named = containerName ? containerNamed(pod, containerName) : container;
    const value = named && resourceValue(named, resource, divisor, facts);
    return value === undefined ? { refused: `unsupported container resource : ${resource}` } : { value };
  }
  if (configMapKeyRef) {
    return keyOf(referenceTo(pod, 'ConfigMap', configMapKeyRef.name), configMapKeyRef, facts.findConfig);
  }
  if (secretKeyRef) {
    return keyOf(referenceTo(pod, 'Secret', secretKeyRef.name), secretKeyRef, facts.findConfig);
  }
  return { refused: `environment variable ${variable.name}: its source is not supported` };
}

/** Returns the container of this name, including init and ephemeral containers. */
export function containerNamed({ spec }: Pod, wanted: string): Container | undefined {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  return [...containers, ...initContainers, ...ephemeralContainers].find(({ name }) => name === wanted);
}
