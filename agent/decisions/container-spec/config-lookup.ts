/** How decisions look ConfigMaps and Secrets up, and what they say of one that is not there. */
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';

/** Finds what this host was given; undefined where there is no such object. */
export type FindConfig = (reference: ConfigReference) => ConfigMap | Secret | undefined;

/** The API's own words for a missing object, which a kubelet passes on. */
export function notFoundMessage({ kind, name }: ConfigReference): string {
  return `${kind.toLowerCase()} "${name}" not found`;
}

/** The value of each key, in bytes: a ConfigMap's texts and binaries, a Secret's data. */
export function configData(object: ConfigMap | Secret): Map<string, Buffer> {
  const texts = object.kind === 'ConfigMap' ? (object.data ?? {}) : {};
  const binaries = object.kind === 'ConfigMap' ? (object as ConfigMap).binaryData : object.data;
  return new Map([
    ...Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(binaries ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ]);
}

/** The values that can be environment variables: a ConfigMap's binaries cannot (pkg/kubelet makeEnvironmentVariables). */
export function configTexts(object: ConfigMap | Secret): Map<string, string> {
  const entries = Object.entries(object.data ?? {});
  if (object.kind === 'ConfigMap') return new Map(entries);
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
