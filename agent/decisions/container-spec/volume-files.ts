/**
 * Files of volumes with content from the API: ConfigMaps, Secrets, fields of the Pod, and projected combinations
 * (pkg/volume/configmap, secret, downwardapi, projected).
 */
import type { TokenSource } from '../../../shared/kube/access/service-account-token.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  Volume,
  VolumeProjection,
} from '../../../shared/kube/pods/volume-types.js';
import { configData, type FindConfig, notFoundMessage } from './config-lookup.js';
import { containerNamed } from './container-environment.js';
import { type FieldFacts, fieldValue, resourceValue } from './field-ref.js';

/** Content and permission bits of one file. */
export interface VolumeFile {
  content: Buffer;
  mode: number;
}

/** Files by their path in the volume, or why they cannot be made. */
type VolumeFiles =
  | { kind: 'files'; files: ReadonlyMap<string, VolumeFile> }
  | { kind: 'refused'; message: string };

/** Facts that files may refer to. */
export interface FileFacts extends FieldFacts {
  findConfig: FindConfig;
  /** Returns the Pod's token for that source; undefined while there is none. */
  findToken?: (podUid: string, source: TokenSource) => string | undefined;
}

/** Source of a volume's files. All of them except ConfigMap volumes are in memory. */
type FileSource = 'configMap' | 'secret' | 'downwardAPI' | 'projected';

const SOURCES: readonly FileSource[] = ['configMap', 'secret', 'downwardAPI', 'projected'];
const DEFAULT_MODE = 0o644;

/** Returns the source of a volume with files from the API; undefined for other volumes. */
export function fileSourceOf(volume: Volume): FileSource | undefined {
  return SOURCES.find((source) => volume[source] !== undefined);
}

/** Returns true if the Pod has volumes with content that may change while it runs. */
export function showsFiles(pod: Pod): boolean {
  return (pod.spec.volumes ?? []).some((volume) => fileSourceOf(volume) !== undefined);
}

/** Returns the files of a volume with content from the API. */
export function volumeFiles(pod: Pod, volume: Volume, facts: FileFacts): VolumeFiles {
  const found = sourcesOf(volume).map((source) => filesOf(pod, source, facts));
  const refusals = found.flatMap((each) => (each.kind === 'refused' ? [each.message] : []));
  if (refusals.length > 0) return { kind: 'refused', message: aggregate(refusals) };
  return {
    kind: 'files',
    files: new Map(found.flatMap((each) => (each.kind === 'files' ? [...each.files] : []))),
  };
}

/** A source with the default mode of its volume. Other volumes are treated as a projection of one source. */
interface ModedSource {
  source: VolumeProjection;
  mode: number;
}

function sourcesOf({ configMap, secret, downwardAPI, projected }: Volume): ModedSource[] {
  if (configMap) return [{ source: { configMap }, mode: configMap.defaultMode ?? DEFAULT_MODE }];
  if (secret) {
    const { secretName = '', ...rest } = secret;
    return [{ source: { secret: { name: secretName, ...rest } }, mode: secret.defaultMode ?? DEFAULT_MODE }];
  }
  if (downwardAPI) return [{ source: { downwardAPI }, mode: downwardAPI.defaultMode ?? DEFAULT_MODE }];
  const mode = projected?.defaultMode ?? DEFAULT_MODE;
  return (projected?.sources ?? []).map((source) => ({ source, mode }));
}

function filesOf(pod: Pod, { source, mode }: ModedSource, facts: FileFacts): VolumeFiles {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  const named = configMap ?? secret;
  if (named) {
    const kind = configMap ? 'ConfigMap' : 'Secret';
    const reference: ConfigReference = {
      kind,
      namespace: pod.metadata.namespace ?? '',
      name: named.name ?? '',
    };
    return configFiles(reference, named, mode, facts.findConfig);
  }
  if (downwardAPI) return fieldFiles(pod, downwardAPI.items ?? [], mode, facts);
  if (serviceAccountToken) {
    const token = facts.findToken?.(pod.metadata.uid ?? '', serviceAccountToken);
    const file =
      token === undefined ? [] : [[serviceAccountToken.path, { content: Buffer.from(token), mode }] as const];
    return { kind: 'files', files: new Map(file) };
  }
  // The API warns about trust bundles when they are applied.
  return { kind: 'files', files: new Map() };
}

function configFiles(
  reference: ConfigReference,
  { items, optional }: { items?: KeyToPath[]; optional?: boolean },
  defaultMode: number,
  find: FindConfig,
): VolumeFiles {
  const object = find(reference);
  if (!object && !optional) return { kind: 'refused', message: notFoundMessage(reference) };
  const data = object ? configData(object) : new Map<string, Buffer>();
  const wanted: KeyToPath[] = items?.length ? items : [...data.keys()].map((key) => ({ key, path: key }));
  const files = new Map<string, VolumeFile>();
  for (const { key, path, mode } of wanted) {
    const content = data.get(key);
    if (content) files.set(path, { content, mode: mode ?? defaultMode });
    else if (!optional) return { kind: 'refused', message: missingKey(reference.kind, key) };
  }
  return { kind: 'files', files };
}

function missingKey(kind: ConfigReference['kind'], key: string): string {
  return kind === 'ConfigMap'
    ? `configmap references non-existent config key: ${key}`
    : `references non-existent secret key: ${key}`;
}

function fieldFiles(
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  defaultMode: number,
  facts: FileFacts,
): VolumeFiles {
  const files = new Map<string, VolumeFile>();
  const refusals: string[] = [];
  for (const item of items) {
    const value = fileValue(pod, item, facts);
    if (value.refused !== undefined) refusals.push(value.refused);
    else files.set(item.path, { content: value.content, mode: item.mode ?? defaultMode });
  }
  return refusals.length > 0 ? { kind: 'refused', message: aggregate(refusals) } : { kind: 'files', files };
}

type FileValue = { content: Buffer; refused?: undefined } | { refused: string };

function fileValue(
  pod: Pod,
  { path, fieldRef, resourceFieldRef }: DownwardAPIVolumeFile,
  facts: FileFacts,
): FileValue {
  if (fieldRef) return fieldContent(pod, fieldRef.fieldPath, facts);
  const container = containerNamed(pod, resourceFieldRef?.containerName ?? '');
  const { resource = '', divisor } = resourceFieldRef ?? {};
  const value = container && resourceValue(container, resource, divisor, facts);
  return value === undefined
    ? { refused: `unsupported fieldPath: ${path}` }
    : { content: Buffer.from(value) };
}

function fieldContent(pod: Pod, path: string, facts: FileFacts): FileValue {
  const field = fieldValue(pod, path, facts);
  if (field.kind === 'refused') return { refused: field.message };
  if (field.kind === 'text') return { content: Buffer.from(field.text) };
  const { name, key } = field;
  const reference: ConfigReference = { kind: 'Secret', namespace: pod.metadata.namespace ?? '', name };
  const secret = facts.findConfig(reference);
  if (!secret) return { refused: notFoundMessage(reference) };
  const content = configData(secret).get(key);
  return content ? { content } : { refused: missingKey('Secret', key) };
}

/** Joins several errors (k8s.io/apimachinery/pkg/util/errors Aggregate). */
function aggregate(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
