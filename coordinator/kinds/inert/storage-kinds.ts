/** Kinds of storage. Everynode provisions, binds and mounts no volumes of them. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Quantity } from '../../../shared/kube/objects/quantity.js';
import { inertKind } from '../inert-kind.js';
import type { FieldError } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, UNKNOWN, wideColumn } from '../table-column.js';
import { forbidden, notSupported, required } from '../validation/field-error.js';
import { storedStatus } from './stored-status.js';

const STORAGE_GROUP = 'storage.k8s.io';
const INSTEAD = 'use a hostPath volume, which is a directory of the host';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

interface StorageClass extends KubeObject {
  provisioner?: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
}

interface CSIDriver extends KubeObject {
  spec?: {
    attachRequired?: boolean;
    podInfoOnMount?: boolean;
    storageCapacity?: boolean;
    fsGroupPolicy?: string;
    volumeLifecycleModes?: string[];
    tokenRequests?: { audience: string }[];
    requiresRepublish?: boolean;
    seLinuxMount?: boolean;
  };
}

interface PersistentVolumeClaim extends KubeObject {
  spec?: {
    accessModes?: string[];
    volumeName?: string;
    storageClassName?: string;
    volumeMode?: string;
    volumeAttributesClassName?: string;
    resources?: { requests?: Record<string, Quantity> };
  };
  status?: { phase?: string; capacity?: Record<string, Quantity>; accessModes?: string[] };
}

interface PersistentVolume extends KubeObject {
  spec?: {
    capacity?: Record<string, Quantity>;
    accessModes?: string[];
    persistentVolumeReclaimPolicy?: string;
    claimRef?: { namespace?: string; name?: string };
    storageClassName?: string;
    volumeMode?: string;
    volumeAttributesClassName?: string;
  };
  status?: { phase?: string; reason?: string };
}

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function modesText(modes: readonly string[] = []): string {
  return modes.map((mode) => MODES[mode] ?? mode).join(',');
}

/** ValidatePersistentVolumeClaimSpec and ValidatePersistentVolumeSpec. */
function accessModeProblems(modes: readonly string[] = []): FieldError[] {
  const isExclusive = modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod');
  return [
    ...modes
      .filter((mode) => !Object.hasOwn(MODES, mode))
      .map((mode) => notSupported('spec.accessModes', mode, Object.keys(MODES).sort())),
    ...(isExclusive
      ? [forbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

const UNSET = '<unset>';

export const storageClassKind = inertKind<StorageClass>({
  ...{ group: STORAGE_GROUP, kind: 'StorageClass', resource: 'storageclasses', singular: 'storageclass' },
  ...{ shortNames: ['sc'], namespaced: false, schema: 'io.k8s.api.storage.v1.StorageClass' },
  columns: [
    {
      ...NAME_COLUMN,
      cell: ({ metadata }) =>
        metadata.annotations?.[DEFAULT_CLASS] === 'true' ? `${metadata.name} (default)` : metadata.name,
    },
    column('Provisioner', 'string', 'The provisioner.', ({ provisioner }) => provisioner ?? ''),
    column(
      'ReclaimPolicy',
      'string',
      'What happens to a released volume.',
      ({ reclaimPolicy }) => reclaimPolicy ?? '',
    ),
    column(
      'VolumeBindingMode',
      'string',
      'When volumes are bound.',
      ({ volumeBindingMode }) => volumeBindingMode ?? '',
    ),
    column(
      'AllowVolumeExpansion',
      'boolean',
      'Whether volumes may grow.',
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    AGE_COLUMN,
  ],
  setDefaults: (storageClass) => {
    storageClass.reclaimPolicy ??= 'Delete';
    storageClass.volumeBindingMode ??= 'Immediate';
  },
  validate: ({ provisioner }) => (provisioner ? [] : [required('provisioner')]),
  warnings: () => [`StorageClass: Everynode provisions no volumes: ${INSTEAD}`],
});

export const csiDriverKind = inertKind<CSIDriver>({
  ...{ group: STORAGE_GROUP, kind: 'CSIDriver', resource: 'csidrivers', singular: 'csidriver' },
  ...{ namespaced: false, schema: 'io.k8s.api.storage.v1.CSIDriver' },
  columns: [
    NAME_COLUMN,
    column(
      'AttachRequired',
      'boolean',
      'Whether volumes are attached.',
      ({ spec }) => spec?.attachRequired ?? true,
    ),
    column(
      'PodInfoOnMount',
      'boolean',
      'Whether mounts get Pod facts.',
      ({ spec }) => spec?.podInfoOnMount ?? false,
    ),
    column(
      'StorageCapacity',
      'boolean',
      'Whether capacity is tracked.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    column('TokenRequests', 'string', 'Audiences of requested tokens.', ({ spec }) =>
      spec?.tokenRequests?.length ? spec.tokenRequests.map(({ audience }) => audience).join(',') : UNSET,
    ),
    column('RequiresRepublish', 'boolean', 'Whether volumes are published again.', ({ spec }) => {
      return spec?.requiresRepublish ?? false;
    }),
    column('Modes', 'string', 'Lifecycle modes of volumes.', ({ spec }) =>
      (spec?.volumeLifecycleModes ?? []).join(','),
    ),
    AGE_COLUMN,
  ],
  setDefaults: (driver) => {
    driver.spec = {
      ...{ attachRequired: true, podInfoOnMount: false, storageCapacity: false, requiresRepublish: false },
      ...{
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        seLinuxMount: false,
        volumeLifecycleModes: ['Persistent'],
      },
      ...driver.spec,
    };
  },
  warnings: () => ['CSIDriver: Everynode calls no CSI drivers: Pods cannot mount its volumes'],
});

export const persistentVolumeClaimKind = inertKind<PersistentVolumeClaim>({
  ...{ group: '', kind: 'PersistentVolumeClaim', resource: 'persistentvolumeclaims' },
  ...{ singular: 'persistentvolumeclaim', shortNames: ['pvc'], namespaced: true },
  schema: 'io.k8s.api.core.v1.PersistentVolumeClaim',
  ...storedStatus<PersistentVolumeClaim>({ group: '', kind: 'PersistentVolumeClaim' }, { phase: 'Pending' }),
  columns: [
    NAME_COLUMN,
    column('Status', 'string', 'The phase of the claim.', ({ status }) => status?.phase ?? ''),
    column('Volume', 'string', 'The bound volume.', ({ spec }) => spec?.volumeName ?? ''),
    column('Capacity', 'string', 'The capacity of the volume.', ({ status }) =>
      String(status?.capacity?.storage ?? ''),
    ),
    column('Access Modes', 'string', 'Access modes of the volume.', ({ status }) =>
      modesText(status?.accessModes),
    ),
    column('StorageClass', 'string', 'The StorageClass.', ({ spec }) => spec?.storageClassName ?? ''),
    column(
      'VolumeAttributesClass',
      'string',
      'The VolumeAttributesClass.',
      ({ spec }) => spec?.volumeAttributesClassName ?? UNSET,
    ),
    AGE_COLUMN,
    wideColumn('VolumeMode', 'string', 'The mode of the volume.', ({ spec }) => spec?.volumeMode ?? UNSET),
  ],
  setDefaults: ({ spec }) => {
    if (spec) spec.volumeMode ??= 'Filesystem';
  },
  validate: ({ spec }) => [
    ...(spec?.accessModes?.length
      ? []
      : [required('spec.accessModes', 'at least 1 access mode is required')]),
    ...accessModeProblems(spec?.accessModes),
    ...(spec?.resources?.requests?.storage === undefined ? [required('spec.resources[storage]')] : []),
  ],
  warnings: () => [
    `PersistentVolumeClaim: Everynode provisions and binds no volumes: the claim and Pods that use it stay Pending: ${INSTEAD}`,
  ],
});

export const persistentVolumeKind = inertKind<PersistentVolume>({
  ...{ group: '', kind: 'PersistentVolume', resource: 'persistentvolumes', singular: 'persistentvolume' },
  ...{ shortNames: ['pv'], namespaced: false, schema: 'io.k8s.api.core.v1.PersistentVolume' },
  ...storedStatus<PersistentVolume>({ group: '', kind: 'PersistentVolume' }, { phase: 'Pending' }),
  columns: [
    NAME_COLUMN,
    column('Capacity', 'string', 'The capacity.', ({ spec }) => String(spec?.capacity?.storage ?? '')),
    column('Access Modes', 'string', 'Access modes.', ({ spec }) => modesText(spec?.accessModes)),
    column('Reclaim Policy', 'string', 'What happens when it is released.', ({ spec }) => {
      return spec?.persistentVolumeReclaimPolicy ?? '';
    }),
    column('Status', 'string', 'The phase of the volume.', ({ status }) => status?.phase ?? ''),
    column('Claim', 'string', 'The bound claim.', ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    column('StorageClass', 'string', 'The StorageClass.', ({ spec }) => spec?.storageClassName ?? ''),
    column(
      'VolumeAttributesClass',
      'string',
      'The VolumeAttributesClass.',
      ({ spec }) => spec?.volumeAttributesClassName ?? UNSET,
    ),
    column('Reason', 'string', 'Why it is in this phase.', ({ status }) => status?.reason ?? ''),
    AGE_COLUMN,
    wideColumn('VolumeMode', 'string', 'The mode.', ({ spec }) => spec?.volumeMode ?? UNKNOWN),
  ],
  setDefaults: ({ spec }) => {
    if (!spec) return;
    spec.volumeMode ??= 'Filesystem';
    spec.persistentVolumeReclaimPolicy ??= 'Retain';
  },
  validate: ({ spec }) => [
    ...(spec?.accessModes?.length ? [] : [required('spec.accessModes')]),
    ...accessModeProblems(spec?.accessModes),
    ...(spec?.capacity?.storage === undefined ? [required('spec.capacity')] : []),
  ],
  warnings: () => [`PersistentVolume: Everynode binds it to no claim and mounts it in no Pod: ${INSTEAD}`],
});
