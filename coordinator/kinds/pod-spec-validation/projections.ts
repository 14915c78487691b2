/** Volumes that show objects as files: Secrets, ConfigMaps, the Pod's own fields, and several in one. */
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  VolumeProjection,
} from '../../../shared/kube/volume.js';
import { forbidden, invalidValue, required } from '../field-error.js';
import type { FieldError } from '../kind.js';
import { FILE_FIELDS, validateFieldRef, validateResourceRef } from './field-references.js';
import { validateFileMode } from './numbers.js';
import { validateUnreservedPath } from './paths.js';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Keys of a Secret or ConfigMap as files. */
export function validateKeyItems(items: readonly KeyToPath[] | undefined, field: string): FieldError[] {
  return (items ?? []).flatMap((item, index) => {
    const path = `${field}[${index}]`;
    return [
      ...(item.key ? [] : [required(`${path}.key`)]),
      ...(item.path ? validateUnreservedPath(item.path, `${path}.path`) : [required(`${path}.path`)]),
      ...validateFileMode(item.mode, `${path}.mode`),
    ];
  });
}

function validateFile(file: DownwardAPIVolumeFile, field: string): FieldError[] {
  const errors = file.path ? validateUnreservedPath(file.path, `${field}.path`) : [required(`${field}.path`)];
  if (file.fieldRef) {
    errors.push(...validateFieldRef(file.fieldRef, FILE_FIELDS, `${field}.fieldRef`));
    if (file.resourceFieldRef) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(invalidValue(field, 'resource', detail));
    }
  } else if (file.resourceFieldRef) {
    errors.push(...validateResourceRef(file.resourceFieldRef, true, `${field}.resourceFieldRef`));
  } else errors.push(required(field, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...validateFileMode(file.mode, `${field}.mode`)];
}

/** Fields of the Pod as files. */
export function validateDownwardFiles(
  items: readonly DownwardAPIVolumeFile[] | undefined,
  field: string,
): FieldError[] {
  return (items ?? []).flatMap((file, index) => validateFile(file, `${field}[${index}]`));
}

function validateToken(
  token: NonNullable<VolumeProjection['serviceAccountToken']>,
  field: string,
): FieldError[] {
  const seconds = token.expirationSeconds ?? MIN_TOKEN_SECONDS;
  const errors: FieldError[] = [];
  const path = `${field}.expirationSeconds`;
  if (seconds < MIN_TOKEN_SECONDS) {
    errors.push(invalidValue(path, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > MAX_TOKEN_SECONDS) {
    errors.push(invalidValue(path, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return token.path ? errors : [...errors, required(`${field}.path`)];
}

/** How each kind of source is checked, in upstream's order. */
const SOURCES: Readonly<Record<string, (source: VolumeProjection, field: string) => FieldError[]>> = {
  secret: ({ secret }, field) => [
    ...(secret?.name ? [] : [required(`${field}.name`)]),
    ...validateKeyItems(secret?.items, `${field}.items`),
  ],
  configMap: ({ configMap }, field) => [
    ...(configMap?.name ? [] : [required(`${field}.name`)]),
    ...validateKeyItems(configMap?.items, `${field}.items`),
  ],
  downwardAPI: ({ downwardAPI }, field) => validateDownwardFiles(downwardAPI?.items, `${field}.items`),
  serviceAccountToken: ({ serviceAccountToken }, field) =>
    serviceAccountToken ? validateToken(serviceAccountToken, field) : [],
  clusterTrustBundle: () => [],
  podCertificate: () => [],
};

function validateSource(source: VolumeProjection, field: string): FieldError[] {
  const kinds = Object.keys(SOURCES).filter((kind) => Object.hasOwn(source, kind));
  if (kinds.length === 0) return [required(field, 'must specify a volume type')];
  return kinds.flatMap((kind, index) =>
    index === 0
      ? (SOURCES[kind]?.(source, `${field}.${kind}`) ?? [])
      : [forbidden(`${field}.${kind}`, 'may not specify more than 1 volume type per source')],
  );
}

/** The paths of files that a source makes, as far as it names them. */
function pathsOf(source: VolumeProjection): string[] {
  const items = source.secret?.items ?? source.configMap?.items ?? source.downwardAPI?.items ?? [];
  const token = source.serviceAccountToken?.path;
  return [...items.map((item) => item.path), ...(token ? [token] : [])];
}

/** Several sources in one volume: each right in itself, no file twice. */
export function validateProjected(volume: ProjectedVolumeSource, field: string): FieldError[] {
  const sources = volume.sources ?? [];
  const seen = new Set<string>();
  const conflicts = sources.flatMap(pathsOf).flatMap((path) => {
    if (!seen.has(path)) {
      seen.add(path);
      return [];
    }
    return [invalidValue(field, path, 'conflicting duplicate paths')];
  });
  return [
    ...validateFileMode(volume.defaultMode, `${field}.defaultMode`),
    ...sources.flatMap((source, index) => validateSource(source, `${field}.sources[${index}]`)),
    ...conflicts,
  ];
}
