/** Validation of volumes that contain objects as files: Secrets, ConfigMaps, downward API, and projected ones. */
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  VolumeProjection,
} from '../../../../shared/kube/pods/volume-types.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, required } from '../../validation/field-error.js';
import { FILE_FIELDS, validateFieldRef, validateResourceRef } from './field-reference-validation.js';
import { validateFileMode, validateUnreservedPath } from './value-validation.js';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

function validateFilePath(path: string | undefined, field: string): FieldError[] {
  return path ? validateUnreservedPath(path, field) : [required(field)];
}

/** Validates keys of a Secret or ConfigMap as files. */
export function validateKeyItems(items: readonly KeyToPath[] | undefined, field: string): FieldError[] {
  return (items ?? []).flatMap((item, index) => {
    const path = `${field}[${index}]`;
    return [
      ...(item.key ? [] : [required(`${path}.key`)]),
      ...validateFilePath(item.path, `${path}.path`),
      ...validateFileMode(item.mode, `${path}.mode`),
    ];
  });
}

function validateFile(file: DownwardAPIVolumeFile, field: string): FieldError[] {
  const errors = validateFilePath(file.path, `${field}.path`);
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

/** Validates Pod fields as files. Upstream omits the index from the path. */
export function validateDownwardFiles(
  items: readonly DownwardAPIVolumeFile[] | undefined,
  field: string,
): FieldError[] {
  return (items ?? []).flatMap((file) => validateFile(file, field));
}

function validateLifetime(seconds: number, field: string): FieldError[] {
  if (seconds < MIN_TOKEN_SECONDS) {
    return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds <= MAX_TOKEN_SECONDS) return [];
  return [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
}

/** Checks by kind of source, in upstream's order. */
const SOURCES: Readonly<Record<string, (source: VolumeProjection, field: string) => FieldError[]>> = {
  secret: ({ secret }, field) => [
    ...(secret?.name ? [] : [required(`${field}.name`)]),
    ...validateKeyItems(secret?.items, `${field}.items`),
  ],
  configMap: ({ configMap }, field) => [
    ...(configMap?.name ? [] : [required(`${field}.name`)]),
    ...validateKeyItems(configMap?.items, `${field}.items`),
  ],
  downwardAPI: ({ downwardAPI }, field) => validateDownwardFiles(downwardAPI?.items, field),
  serviceAccountToken: ({ serviceAccountToken }, field) =>
    validateLifetime(
      serviceAccountToken?.expirationSeconds ?? MIN_TOKEN_SECONDS,
      `${field}.expirationSeconds`,
    ),
  clusterTrustBundle: () => [],
  podCertificate: () => [],
};

/** Upstream reports errors of a token's path as if it were the volume's. */
function validateSource(source: VolumeProjection, field: string, volumeField: string): FieldError[] {
  const kinds = Object.keys(SOURCES).filter((kind) => Object.hasOwn(source, kind));
  const token = source.serviceAccountToken;
  return [
    ...kinds.flatMap((kind) => SOURCES[kind]?.(source, `${field}.${kind}`) ?? []),
    ...(token ? validateFilePath(token.path, `${volumeField}.path`) : []),
    ...(kinds.length > 1 ? [forbidden(field, 'may not specify more than 1 volume type per source')] : []),
  ];
}

/** Returns the file paths that a source names. */
function pathsOf(source: VolumeProjection): string[] {
  const lists = [source.secret?.items, source.configMap?.items, source.downwardAPI?.items];
  return lists.flatMap((items) => (items ?? []).map((item) => item.path)).filter((path) => path);
}

/** Validates each source, and that no two sources write the same file. */
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
    ...sources.flatMap((source, index) => validateSource(source, `${field}.sources[${index}]`, field)),
    ...conflicts,
  ];
}
