/** Lookup of ConfigMaps and Secrets for decisions, and the message for a missing one. */
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';

/** Returns an object that the hub sent to this host; undefined if there is none. */
export type FindConfig = (reference: ConfigReference) => ConfigMap | Secret | undefined;

/** Returns the API's message for a missing object, as a kubelet shows it. */
export function notFoundMessage({ kind, name }: ConfigReference): string {
  return `${kind.toLowerCase()} "${name}" not found`;
}

/** Returns all values as bytes: a ConfigMap's data and binaryData, a Secret's data. */
export function configData(object: ConfigMap | Secret): Map<string, Buffer> {
  const texts = object.kind === 'ConfigMap' ? (object.data ?? {}) : {};
  const binaries = object.kind === 'ConfigMap' ? (object as ConfigMap).binaryData : object.data;
  return new Map([
    ...Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(binaries ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ]);
}

/**
 * Returns the values for environment variables, without a ConfigMap's binaryData (pkg/kubelet
 * makeEnvironmentVariables).
 */
export function configTexts(object: ConfigMap | Secret): Map<string, string> {
  const entries = Object.entries(object.data ?? {});
  if (object.kind === 'ConfigMap') return new Map(entries);
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
