/** Volumes of a Pod. */
import { parseQuantity } from '../../../shared/kube/quantity.js';
import type { Volume } from '../../../shared/kube/volume.js';
import { duplicate, forbidden, notSupported, required } from '../field-error.js';
import type { FieldError } from '../kind.js';
import { dnsLabelProblems } from '../name-rules.js';
import { invalidFor } from '../object-meta.js';
import { validateFileMode } from './numbers.js';
import { validateNoBacksteps } from './paths.js';
import { validateDownwardFiles, validateKeyItems, validateProjected } from './projections.js';

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

/** A source of which only the fields that must be there are checked. */
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
    ...validateDownwardFiles(downwardAPI?.items, `${field}.items`),
  ];
}

/** Every source and its check, in the order in which upstream looks: the first one there counts as the volume's. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: requiring('gitRepo', 'repository'),
  gcePersistentDisk: requiring('gcePersistentDisk', 'pdName'),
  awsElasticBlockStore: requiring('awsElasticBlockStore', 'volumeID'),
  secret: validateSecret,
  nfs: requiring('nfs', 'server', 'path'),
  iscsi: requiring('iscsi', 'targetPortal', 'iqn'),
  glusterfs: requiring('glusterfs', 'endpoints', 'path'),
  flocker: () => [],
  persistentVolumeClaim: requiring('persistentVolumeClaim', 'claimName'),
  rbd: requiring('rbd', 'monitors', 'image'),
  cinder: requiring('cinder', 'volumeID'),
  cephfs: requiring('cephfs', 'monitors'),
  quobyte: requiring('quobyte', 'registry', 'volume'),
  downwardAPI: validateDownwardAPI,
  fc: () => [],
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

function validateSource(volume: Volume, field: string): FieldError[] {
  const sources = Object.keys(SOURCES).filter((source) => volume[source] !== undefined);
  if (sources.length === 0) return [required(field, 'must specify a volume type')];
  return sources.flatMap((source, index) =>
    index === 0
      ? (SOURCES[source]?.(volume, `${field}.${source}`) ?? [])
      : [forbidden(`${field}.${source}`, 'may not specify more than 1 volume type')],
  );
}

/** What a Pod's volumes come to: the mistakes, and the names that containers may mount. */
export interface CheckedVolumes {
  errors: FieldError[];
  names: ReadonlySet<string>;
}

/** A volume with a mistake can't be mounted: its mounts are `Not found` too, as upstream has it. */
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
