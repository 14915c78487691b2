/** Validation of a Pod's volumes. */
import { parseQuantity } from '../../../../shared/kube/objects/quantity.js';
import type { Volume } from '../../../../shared/kube/pods/volume-types.js';
import type { FieldError } from '../../kind.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { dnsLabelProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';
import { validateDownwardFiles, validateKeyItems, validateProjected } from './projection-validation.js';
import { validateFileMode, validateNoBacksteps } from './value-validation.js';

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

type SourceCheck = (volume: Volume, field: string) => FieldError[];

/** Returns a check for a source that only has required fields. */
function requiring(source: string, ...fields: string[]): SourceCheck {
  return (volume, path) => {
    const value = volume[source] as Record<string, unknown>;
    const lacking = fields.filter((name) => isEmpty(value[name]));
    return lacking.map((name) => required(`${path}.${name}`));
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

function validateHostPath({ hostPath }: Volume, field: string): FieldError[] {
  if (!hostPath?.path) return [required(`${field}.path`)];
  const type = hostPath.type ?? '';
  return [
    ...validateNoBacksteps(hostPath.path, `${field}.path`),
    ...(HOST_PATH_TYPES.includes(type) ? [] : [notSupported(`${field}.type`, type, HOST_PATH_TYPES)]),
  ];
}

function validateEmptyDir({ emptyDir }: Volume, field: string): FieldError[] {
  if ((parseQuantity(emptyDir?.sizeLimit) ?? 0) >= 0) return [];
  return [forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
}

function validateSecret({ secret }: Volume, field: string): FieldError[] {
  return [
    ...(secret?.secretName ? [] : [required(`${field}.secretName`)]),
    ...validateFileMode(secret?.defaultMode, `${field}.defaultMode`),
    ...validateKeyItems(secret?.items, `${field}.items`),
  ];
}

function validateConfigMap({ configMap }: Volume, field: string): FieldError[] {
  return [
    ...(configMap?.name ? [] : [required(`${field}.name`)]),
    ...validateFileMode(configMap?.defaultMode, `${field}.defaultMode`),
    ...validateKeyItems(configMap?.items, `${field}.items`),
  ];
}

function validateDownwardAPI({ downwardAPI }: Volume, field: string): FieldError[] {
  return [
    ...validateFileMode(downwardAPI?.defaultMode, `${field}.defaultMode`),
    ...validateDownwardFiles(downwardAPI?.items, field),
  ];
}

function validateNfs(volume: Volume, field: string): FieldError[] {
  const { path = '' } = volume.nfs as { path?: string };
  const errors = requiring('nfs', 'server', 'path')(volume, field);
  return path.startsWith('/')
    ? errors
    : [...errors, invalidValue(`${field}.path`, path, 'must be an absolute path')];
}

function validateFlocker(volume: Volume, field: string): FieldError[] {
  const { datasetName, datasetUUID } = volume.flocker as { datasetName?: string; datasetUUID?: string };
  if (!datasetName && !datasetUUID)
    return [required(field, 'one of datasetName and datasetUUID is required')];
  if (!datasetName || !datasetUUID) return [];
  return [invalidValue(field, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')];
}

function validateFibreChannel(volume: Volume, field: string): FieldError[] {
  const { targetWWNs = [], wwids = [], lun } = volume.fc as { targetWWNs?: []; wwids?: []; lun?: number };
  const path = `${field}.targetWWNs`;
  if (targetWWNs.length === 0) {
    const detail = 'must specify either targetWWNs or wwids, but not both';
    return wwids.length === 0 ? [required(path, detail)] : [];
  }
  const errors =
    lun === undefined ? [required(`${field}.lun`, 'lun is required if targetWWNs is specified')] : [];
  if (wwids.length === 0) return errors;
  return [
    ...errors,
    invalidValue(path, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'),
  ];
}

/** All sources and their checks, in upstream's order. The first source counts as the volume's. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: requiring('gitRepo', 'repository'),
  gcePersistentDisk: requiring('gcePersistentDisk', 'pdName'),
  awsElasticBlockStore: requiring('awsElasticBlockStore', 'volumeID'),
  secret: validateSecret,
  nfs: validateNfs,
  iscsi: requiring('iscsi', 'targetPortal', 'iqn'),
  glusterfs: requiring('glusterfs', 'endpoints', 'path'),
  flocker: validateFlocker,
  persistentVolumeClaim: requiring('persistentVolumeClaim', 'claimName'),
  rbd: requiring('rbd', 'monitors', 'image'),
  cinder: requiring('cinder', 'volumeID'),
  cephfs: requiring('cephfs', 'monitors'),
  quobyte: requiring('quobyte', 'registry', 'volume'),
  downwardAPI: validateDownwardAPI,
  fc: validateFibreChannel,
  flexVolume: requiring('flexVolume', 'driver'),
  configMap: validateConfigMap,
  azureFile: requiring('azureFile', 'secretName', 'shareName'),
  vsphereVolume: requiring('vsphereVolume', 'volumePath'),
  photonPersistentDisk: requiring('photonPersistentDisk', 'pdID'),
  portworxVolume: requiring('portworxVolume', 'volumeID'),
  azureDisk: requiring('azureDisk', 'diskName', 'diskURI'),
  storageos: () => [],
  projected: ({ projected }, field) => (projected ? validateProjected(projected, field) : []),
  scaleIO: requiring('scaleIO', 'gateway', 'system', 'volumeName'),
  csi: requiring('csi', 'driver'),
  ephemeral: requiring('ephemeral', 'volumeClaimTemplate'),
  image: requiring('image', 'reference'),
};

/** Sources with upstream's irregular spelling of the path. */
const CHECKED_UNDER: Readonly<Record<string, string>> = { gcePersistentDisk: 'persistentDisk' };
const REPEATED_UNDER: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

function validateSource(volume: Volume, field: string): FieldError[] {
  const sources = Object.keys(SOURCES).filter((source) => volume[source] !== undefined);
  if (sources.length === 0) return [required(field, 'must specify a volume type')];
  return sources.flatMap((source, index) =>
    index === 0
      ? (SOURCES[source]?.(volume, `${field}.${CHECKED_UNDER[source] ?? source}`) ?? [])
      : [
          forbidden(
            `${field}.${REPEATED_UNDER[source] ?? source}`,
            'may not specify more than 1 volume type',
          ),
        ],
  );
}

/** The errors, and the names that containers may mount. */
interface CheckedVolumes {
  errors: FieldError[];
  names: ReadonlySet<string>;
}

/** An invalid volume cannot be mounted. Its mounts are also `Not found`, like upstream. */
export function validateVolumes(volumes: readonly Volume[] | undefined, field: string): CheckedVolumes {
  const names = new Set<string>();
  const errors = (volumes ?? []).flatMap((volume, index) => {
    const path = `${field}[${index}]`;
    const found = validateSource(volume, path);
    const nameErrors = volume.name
      ? invalidFor(`${path}.name`, volume.name, dnsLabelProblems(volume.name))
      : [required(`${path}.name`)];
    found.push(...nameErrors);
    if (names.has(volume.name)) found.push(duplicate(`${path}.name`, volume.name));
    if (found.length === 0) names.add(volume.name);
    return found;
  });
  return { errors, names };
}
